// The real `Chat` over HTTP against a live server: one instance is one open tab.
import { collectingWarnings, errorJson, plain } from "./report.mjs";
import { validate } from "./vercel_fold.mjs";
import { sdkOf } from "./vercel_sdk.mjs";
import { settled, Wire } from "./wire.mjs";

export class ChatTab {
  #operations = new Set();
  #failure = null;

  constructor(options, messages, wire) {
    const { id, sdk = "7", api, sendAutomaticallyWhen = "approvals-or-tools", toolOutputs = {} } = options;
    const kit = sdkOf(sdk);
    this.sdk = sdk;
    this.api = api;
    this.wire = wire;
    this.onData = [];
    this.toolCalls = [];
    this.finishes = [];
    this.warnings = [];
    this.chat = new kit.Chat({
      id,
      messages,
      generateId: options.idPrefix === undefined ? undefined : counter(options.idPrefix),
      transport: new kit.DefaultChatTransport({ api, fetch: wire.fetch, body: options.body }),
      sendAutomaticallyWhen: predicateOf(kit, sendAutomaticallyWhen),
      onData: (part) => this.onData.push(plain(part)),
      onToolCall: ({ toolCall }) => {
        this.toolCalls.push(plain(toolCall));
        if (Object.hasOwn(toolOutputs, toolCall.toolName)) {
          // Awaited, this would wait for the job it runs in: the chat would hang (ai 7.0.173).
          this.#track(
            this.chat.addToolOutput({
              tool: toolCall.toolName,
              toolCallId: toolCall.toolCallId,
              output: toolOutputs[toolCall.toolName],
            }),
          );
        }
      },
      onFinish: ({ isAbort, isDisconnect, isError, finishReason }) =>
        this.finishes.push(plain({ isAbort, isDisconnect, isError, finishReason })),
    });
  }

  /** Opens a tab: reads the stored messages when `hydrate` says so, and reconnects as `useChat` does on mount. */
  static async open(options) {
    const api = options.api ?? `${options.baseUrl}/vercel/chat`;
    const wire = new Wire({ ...options, counts: (url) => url === api });
    let messages = options.messages ?? [];
    if (options.hydrate) {
      const response = await wire.fetch(`${api}/${encodeURIComponent(options.id)}`);
      if (!response.ok) throw new Error(`Hydration answered ${response.status}: ${await response.text()}`);
      messages = (await response.json()).messages;
    }
    const tab = new ChatTab({ ...options, api }, messages, wire);
    if (!options.resume) return tab;
    try {
      await tab.act({ do: "resume", wait: options.wait, timeoutMs: options.timeoutMs });
      return tab;
    } catch (error) {
      await tab.close();
      throw error;
    }
  }

  async act(action) {
    this.#failure = null;
    await this.#perform(action);
    if (action.do !== "wait" && action.wait !== false) await this.#until("ready", action.timeoutMs);
    return this.state();
  }

  async close() {
    await this.chat.stop();
  }

  async state() {
    const messages = plain(this.chat.messages);
    const { error } = messages.length === 0 ? { error: null } : await validate({ messages, sdk: this.sdk });
    return {
      id: this.chat.id,
      status: this.chat.status,
      error: errorJson(this.chat.error),
      failure: errorJson(this.#failure),
      messages,
      invalid: error,
      posts: this.wire.posts,
      looped: this.wire.looped,
      exchanges: plain(this.wire.exchanges),
      cookies: Object.fromEntries(this.wire.jar),
      onData: this.onData,
      toolCalls: this.toolCalls,
      finishes: this.finishes,
      warnings: this.warnings,
    };
  }

  #perform(action) {
    switch (action.do) {
      case "send":
        return this.#start(() => this.chat.sendMessage(userMessage(action), { body: action.body }));
      case "continue":
        return this.#start(() => this.chat.sendMessage());
      case "answer":
        return this.#start(() => this.chat.addToolApprovalResponse(this.#answer(action)));
      case "output":
        return this.#start(() => this.chat.addToolOutput(toolOutput(action)));
      case "regenerate":
        return this.#start(() => this.chat.regenerate({ messageId: action.messageId }));
      case "resume":
        return this.#start(() => this.chat.resumeStream());
      case "stop":
        return this.chat.stop();
      case "cancel":
        return this.#cancel();
      case "clearError":
        return this.chat.clearError();
      case "setMessages":
        this.chat.messages = action.messages;
        return undefined;
      case "wait":
        return this.#until(action.until ?? "ready", action.timeoutMs);
      default:
        throw new Error(`Unknown action ${JSON.stringify(action)}`);
    }
  }

  /** Begins a request without waiting for it: the next action may come while it streams. */
  #start(begin) {
    collectingWarnings(this.warnings, () => this.#track(begin()));
  }

  #track(promise) {
    const operation = Promise.resolve(promise)
      .catch((error) => {
        this.#failure = error;
      })
      .finally(() => this.#operations.delete(operation));
    this.#operations.add(operation);
  }

  /** The server's own stop; closing the socket alone only disconnects. */
  async #cancel() {
    const url = `${this.api}/${encodeURIComponent(this.chat.id)}/stop`;
    const response = await this.wire.fetch(url, { method: "POST" });
    await response.text();
    await this.chat.stop();
  }

  #answer({ approvalId, callId, index, approved, reason }) {
    if (approvalId !== undefined) return { id: approvalId, approved, reason };
    const open = this.#parts().filter((part) => part.state === "approval-requested");
    const part = callId === undefined ? open[index ?? 0] : open.find((one) => one.toolCallId === callId);
    if (part === undefined) throw new Error(`No open approval ${callId ?? index ?? 0}`);
    return { id: part.approval.id, approved, reason };
  }

  #parts() {
    return this.chat.messages.flatMap((message) => message.parts).filter((part) => "toolCallId" in part);
  }

  async #until(goal, timeoutMs = 20_000) {
    if (typeof goal === "number") {
      await new Promise((wake) => setTimeout(wake, goal));
      return;
    }
    const quick = goal === "ready" ? {} : { stableMs: 0 };
    if (await settled(() => this.#reached(goal), { timeoutMs, ...quick })) return;
    const state = await this.state();
    throw new Error(`Still not ${JSON.stringify(goal)} after ${timeoutMs} ms: ${JSON.stringify(state)}`);
  }

  #reached(goal) {
    const { status } = this.chat;
    if (goal === "streaming") return status === "streaming";
    if (goal === "approval") return this.#parts().some((part) => part.state === "approval-requested");
    if (goal === "tool") return this.#parts().some((part) => part.state === "input-available");
    if (goal.posts !== undefined) return this.wire.posts >= goal.posts;
    if (goal.text !== undefined) return JSON.stringify(this.chat.messages).includes(goal.text);
    if (goal !== "ready") throw new Error(`Unknown goal ${JSON.stringify(goal)}`);
    const idle = status === "ready" || status === "error";
    return idle && this.wire.awaitingHeaders === 0 && this.#operations.size === 0;
  }
}

function userMessage({ text, id, messageId }) {
  if (messageId !== undefined) return { text, messageId };
  return id === undefined ? { text } : { id, role: "user", parts: [{ type: "text", text }] };
}

function toolOutput({ callId, tool = "tool", output, errorText }) {
  if (errorText !== undefined) return { state: "output-error", tool, toolCallId: callId, errorText };
  return { tool, toolCallId: callId, output };
}

function predicateOf({ approvals, tools }, name) {
  switch (name) {
    case "none":
      return undefined;
    case "approvals":
      return approvals;
    case "tools":
      return tools;
    case "approvals-or-tools":
      return (options) => approvals(options) || tools(options);
    default:
      throw new Error(`Unknown predicate ${name}`);
  }
}

function counter(prefix) {
  let next = 0;
  return () => `${prefix}${++next}`;
}
