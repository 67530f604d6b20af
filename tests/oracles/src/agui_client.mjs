// The two generations of @ag-ui/client: frames folded, and a live agent.
import * as agui1 from "@ag-ui/client";
import * as agui0 from "ag-ui-client-0";

import { collectingWarnings, errorJson, plain } from "./report.mjs";
import { byteStream } from "./vercel_fold.mjs";
import { settled, Wire } from "./wire.mjs";

const CLIENTS = { "1.0.0": agui1, "0.0.59": agui0 };

/** HttpAgent plus the `connect` that it lacks: the same request, posted to `{url}/connect`. */
function connectingAgent({ HttpAgent }) {
  return class ConnectingAgent extends HttpAgent {
    connect(input) {
      this.abortController = new AbortController();
      const reload = new HttpAgent({ url: `${this.url}/connect`, headers: this.headers, fetch: this.fetch });
      reload.abortController = this.abortController;
      return reload.run(input);
    }
  };
}

const AGENTS = Object.fromEntries(Object.entries(CLIENTS).map(([version, kit]) => [version, connectingAgent(kit)]));

function agentOf(version, config) {
  const Agent = AGENTS[version];
  if (Agent === undefined) throw new Error(`No @ag-ui/client ${version} here: 1.0.0 or 0.0.59`);
  return new Agent(config);
}

/** What a run told its subscribers, and how its promise ended. */
class Witness {
  constructor() {
    this.events = [];
    this.finishes = [];
    this.failure = null;
    this.warnings = [];
    this.resolved = null;
    this.error = null;
  }

  subscriber() {
    return {
      onEvent: ({ event }) => {
        this.events.push(plain(event));
      },
      onRunFinishedEvent: ({ outcome, interrupts, pendingToolCallIds }) => {
        this.finishes.push(plain({ outcome, interrupts, pendingToolCallIds }));
      },
      onRunFailed: ({ error }) => {
        this.failure = errorJson(error);
      },
    };
  }

  async watch(begin) {
    try {
      await collectingWarnings(this.warnings, begin);
      this.resolved = true;
    } catch (error) {
      this.resolved = false;
      this.error = errorJson(error);
    }
  }

  json() {
    const { events, finishes, failure, warnings, resolved, error } = this;
    const customs = events.filter(({ type }) => type === "CUSTOM").map(({ name, value }) => ({ name, value }));
    const runErrors = events.filter(({ type }) => type === "RUN_ERROR");
    return { events, customs, runErrors, finishes, failure, warnings, resolved, error };
  }
}

function agentJson(agent) {
  return {
    messages: plain(agent.messages),
    state: plain(agent.state),
    pendingInterrupts: plain(agent.pendingInterrupts),
  };
}

/** One SSE body through a whole client: parse, (1.0.0) enforce, verify, apply. */
export async function fold(options) {
  const { text, version = "1.0.0", messages = [], state = {}, pending = [], resume, size = 0 } = options;
  const agent = agentOf(version, {
    url: "http://oracle.invalid/ag-ui",
    threadId: options.threadId ?? "t1",
    initialMessages: messages,
    initialState: state,
    fetch: async () => {
      // Set only now: `runAgent` refuses an uncovered resume before it sends, and a fold is about the answer.
      if (resume === undefined) agent.pendingInterrupts = pending;
      return new Response(byteStream(text, size), { headers: { "content-type": "text/event-stream" } });
    },
  });
  if (resume !== undefined) agent.pendingInterrupts = pending;
  const witness = new Witness();
  await witness.watch(() => agent.runAgent({ runId: options.runId ?? "r1", resume }, witness.subscriber()));
  return { ...agentJson(agent), ...witness.json() };
}

/** A live agent: one instance is one open tab. */
export class AgentTab {
  #running = new Set();

  constructor(options) {
    this.wire = new Wire(options);
    this.nextMessage = 0;
    this.tools = options.tools;
    this.context = options.context;
    this.forwardedProps = options.forwardedProps;
    this.runs = [];
    this.witness = new Witness();
    this.agent = agentOf(options.version ?? "1.0.0", {
      url: options.url,
      threadId: options.threadId,
      initialMessages: options.messages ?? [],
      initialState: options.state ?? {},
      fetch: this.wire.fetch,
    });
    this.agent.pendingInterrupts = options.pending ?? [];
  }

  async act(action) {
    await this.#perform(action);
    if (action.do !== "wait" && action.wait !== false) await this.#until("idle", action.timeoutMs);
    return this.state();
  }

  state() {
    return {
      threadId: this.agent.threadId,
      running: this.agent.isRunning,
      ...agentJson(this.agent),
      ...this.witness.json(),
      runs: this.runs.map(({ resolved, error, finishes }) => ({ resolved, error, finishes })),
      looped: this.wire.looped,
      posts: this.wire.posts,
      exchanges: plain(this.wire.exchanges),
      cookies: Object.fromEntries(this.wire.jar),
    };
  }

  async close() {
    this.agent.abortRun();
    await settled(() => this.#running.size === 0, { timeoutMs: 2_000, stableMs: 0 });
  }

  #perform(action) {
    switch (action.do) {
      case "send":
        this.agent.addMessage({ id: action.id ?? `u${++this.nextMessage}`, role: "user", content: action.text });
        return this.#run(action);
      case "run":
        return this.#run(action);
      case "answer":
        return this.#run({ ...action, resume: this.#resume(action.answers) });
      case "connect":
        return this.#begin((subscriber) => this.agent.connectAgent({ runId: action.runId }, subscriber));
      case "add":
        return this.agent.addMessages(action.messages);
      case "set":
        return this.#set(action);
      case "abort":
        return this.agent.abortRun();
      case "wait":
        return this.#until(action.until ?? "idle", action.timeoutMs);
      default:
        throw new Error(`Unknown action ${JSON.stringify(action)}`);
    }
  }

  /** `{interruptId: payload}`; a `null` payload cancels. */
  #resume(answers) {
    return Object.entries(answers).map(([interruptId, payload]) =>
      payload === null ? { interruptId, status: "cancelled" } : { interruptId, status: "resolved", payload },
    );
  }

  #run({ runId, resume, tools, context, forwardedProps }) {
    const parameters = {
      runId,
      resume,
      tools: tools ?? this.tools,
      context: context ?? this.context,
      forwardedProps: forwardedProps ?? this.forwardedProps,
    };
    return this.#begin((subscriber) => this.agent.runAgent(parameters, subscriber));
  }

  #begin(start) {
    const witness = new Witness();
    this.witness = witness;
    this.runs.push(witness);
    const run = witness.watch(() => start(witness.subscriber())).finally(() => this.#running.delete(run));
    this.#running.add(run);
  }

  #set({ messages, state, pending, tools, context, forwardedProps, threadId }) {
    if (messages !== undefined) this.agent.setMessages(messages);
    if (state !== undefined) this.agent.setState(state);
    if (pending !== undefined) this.agent.pendingInterrupts = pending;
    if (threadId !== undefined) this.agent.threadId = threadId;
    this.tools = tools ?? this.tools;
    this.context = context ?? this.context;
    this.forwardedProps = forwardedProps ?? this.forwardedProps;
  }

  async #until(goal, timeoutMs = 20_000) {
    if (typeof goal === "number") {
      await new Promise((wake) => setTimeout(wake, goal));
      return;
    }
    if (await settled(() => this.#reached(goal), { timeoutMs, stableMs: goal === "idle" ? 5 : 0 })) return;
    throw new Error(`Still not ${JSON.stringify(goal)} after ${timeoutMs} ms: ${JSON.stringify(this.state())}`);
  }

  #reached(goal) {
    if (goal === "idle") return this.#running.size === 0 && this.wire.awaitingHeaders === 0;
    if (goal.event !== undefined) return this.witness.events.some(({ type }) => type === goal.event);
    if (goal.text !== undefined) return JSON.stringify(this.agent.messages).includes(goal.text);
    throw new Error(`Unknown goal ${JSON.stringify(goal)}`);
  }
}
