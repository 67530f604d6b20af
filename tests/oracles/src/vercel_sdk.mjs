// The two generations of the AI SDK, behind one shape.
import { Chat } from "@ai-sdk/react";
import * as ai7 from "ai";
import * as ai6 from "ai6";

// `@ai-sdk/react` of the 6.0 line is this class around an array; only `ai` itself is of interest here.
class ArrayState {
  status = "ready";
  error = undefined;

  constructor(messages) {
    this.messages = messages;
  }

  pushMessage = (message) => {
    this.messages = [...this.messages, message];
  };

  popMessage = () => {
    this.messages = this.messages.slice(0, -1);
  };

  replaceMessage = (index, message) => {
    this.messages = this.messages.map((one, at) => (at === index ? this.snapshot(message) : one));
  };

  snapshot = (value) => structuredClone(value);
}

class Chat6 extends ai6.AbstractChat {
  constructor({ messages = [], ...init }) {
    super({ ...init, state: new ArrayState(messages) });
  }
}

const SDKS = {
  7: { ...pick(ai7), Chat, packages: { ai: "7.0.173", "@ai-sdk/react": "4.0.177" } },
  6: { ...pick(ai6), Chat: Chat6, packages: { ai: "6.0.325" } },
};

function pick(ai) {
  return {
    parseJsonEventStream: ai.parseJsonEventStream,
    chunkSchema: ai.uiMessageChunkSchema,
    readUIMessageStream: ai.readUIMessageStream,
    validateUIMessages: ai.validateUIMessages,
    DefaultChatTransport: ai.DefaultChatTransport,
    approvals: ai.lastAssistantMessageIsCompleteWithApprovalResponses,
    tools: ai.lastAssistantMessageIsCompleteWithToolCalls,
  };
}

export function sdkOf(version) {
  const sdk = SDKS[version];
  if (sdk === undefined) throw new Error(`No AI SDK ${version} here: 7 or 6`);
  return sdk;
}
