// What a page of the AI SDK does, case by case; the frames are V1 and V2 of the measured ones.

const started = [{ type: "start", messageId: "m1" }, { type: "start-step" }];
const suspended = [{ type: "finish-step" }, { type: "finish", finishReason: "tool-calls" }];

function call(callId, toolName, input, server = true) {
  const start = { type: "tool-input-start", toolCallId: callId, toolName };
  return [
    server ? { ...start, providerExecuted: true } : start,
    { type: "tool-input-delta", toolCallId: callId, inputTextDelta: JSON.stringify(input) },
  ];
}

function ask(callId, name, inputs) {
  return {
    type: "tool-approval-request",
    approvalId: callId,
    toolCallId: callId,
    reason: "Deleting a file is irreversible",
    approvalDescriptor: { id: callId, name, inputs, decision: "pending", risk: "destructive" },
  };
}

function said(text, id = "t1") {
  return [
    { type: "text-start", id },
    { type: "text-delta", id, delta: text },
    { type: "text-end", id },
  ];
}

const oneCall = [
  ...started,
  ...said("I will delete it."),
  ...call("c1", "delete_file", { path: "/a" }),
  ask("c1", "delete_file", { path: "/a" }),
  ...suspended,
];

const twoCalls = [
  ...started,
  ...call("c1", "delete_file", { path: "/a" }),
  ...call("c2", "delete_file", { path: "/b" }),
  ask("c1", "delete_file", { path: "/a" }),
  ask("c2", "delete_file", { path: "/b" }),
  ...suspended,
];

const browserCall = [
  ...started,
  ...call("b1", "read_title", { selector: "h1" }, false),
  ask("b1", "read_title", { selector: "h1" }),
  ...suspended,
];

const handedOver = [
  { type: "start", messageId: "m1" },
  { type: "tool-input-available", toolCallId: "b1", toolName: "read_title", input: { selector: "h1" } },
  { type: "finish", finishReason: "tool-calls" },
];

const plainAnswer = [
  ...started,
  ...said("Hello."),
  { type: "finish-step" },
  { type: "finish", finishReason: "stop" },
];

const completed = [
  { type: "start", messageId: "m1" },
  { type: "tool-output-available", toolCallId: "c1", output: { deleted: true } },
  { type: "start-step" },
  ...said("Deleted.", "t2"),
  { type: "finish-step" },
  { type: "finish", finishReason: "stop" },
];

const send = { do: "send", text: "Delete /a" };
const bodyOnly = [{ type: "error", errorText: "Only the request is of interest" }];

export const VERCEL_CASES = [
  {
    id: "first_message",
    note: "A new chat's first message",
    replies: [plainAnswer],
    actions: [send],
    posts: 1,
  },
  {
    id: "second_message",
    note: "A message after a completed turn; the whole history travels along",
    replies: [plainAnswer, plainAnswer],
    actions: [send, { do: "send", text: "And now?" }],
    posts: 2,
  },
  {
    id: "approve",
    note: "One call, approved: addToolApprovalResponse({id, approved: true})",
    replies: [oneCall, bodyOnly],
    actions: [send, { do: "answer", callId: "c1", approved: true }],
    posts: 2,
  },
  {
    id: "approve_with_reason",
    note: "Approved with a reason",
    replies: [oneCall, bodyOnly],
    actions: [send, { do: "answer", callId: "c1", approved: true, reason: "go on" }],
    posts: 2,
  },
  {
    id: "reject",
    note: "Rejected without a reason",
    replies: [oneCall, bodyOnly],
    actions: [send, { do: "answer", callId: "c1", approved: false }],
    posts: 2,
  },
  {
    id: "reject_with_reason",
    note: "Rejected with a reason",
    replies: [oneCall, bodyOnly],
    actions: [send, { do: "answer", callId: "c1", approved: false, reason: "too risky" }],
    posts: 2,
  },
  {
    id: "reject_with_empty_reason",
    note: "Rejected with reason: \"\"",
    replies: [oneCall, bodyOnly],
    actions: [send, { do: "answer", callId: "c1", approved: false, reason: "" }],
    posts: 2,
  },
  {
    id: "two_calls",
    note: "Two calls, answered in reverse order: one post carries both",
    replies: [twoCalls, bodyOnly],
    actions: [
      send,
      { do: "answer", callId: "c2", approved: false, reason: "not now" },
      { do: "answer", callId: "c1", approved: true },
    ],
    posts: 2,
  },
  {
    id: "one_of_two_calls",
    note: "A page that forces a post after one of two answers: sendMessage() without argument",
    replies: [twoCalls, bodyOnly],
    actions: [send, { do: "answer", callId: "c1", approved: true }, { do: "continue" }],
    posts: 2,
  },
  {
    id: "message_while_pending",
    note: "New text while an approval is open",
    replies: [oneCall, bodyOnly],
    actions: [send, { do: "send", text: "Never mind, hello?" }],
    posts: 2,
  },
  {
    id: "answer_after_message_while_pending",
    note: "The open call answered after the refusal of new text re-issued it under a fresh message id (V4)",
    replies: [
      oneCall,
      [
        { type: "start", messageId: "m1" },
        { type: "start", messageId: "m1b" },
        {
          type: "data-signoff-refused",
          data: { code: "awaiting_decision", message: "A decision is open" },
          transient: true,
        },
        ...oneCall.slice(1),
      ],
      bodyOnly,
    ],
    actions: [
      send,
      { do: "send", text: "Never mind, hello?" },
      { do: "answer", callId: "c1", approved: true },
    ],
    posts: 3,
  },
  {
    id: "regenerate",
    note: "regenerate() after a completed answer",
    replies: [plainAnswer, bodyOnly],
    actions: [send, { do: "regenerate" }],
    posts: 2,
  },
  {
    id: "regenerate_while_pending",
    note: "regenerate() while an approval is open: the assistant message is gone from the body",
    replies: [oneCall, bodyOnly],
    actions: [send, { do: "regenerate" }],
    posts: 2,
  },
  {
    id: "edited_message",
    note: "A user message replaced: sendMessage({messageId})",
    replies: [plainAnswer, bodyOnly],
    actions: [send, { do: "send", text: "Delete /b", messageId: "u1" }],
    posts: 2,
  },
  {
    id: "message_after_decisions",
    note: "The next message after an approved call: old answers are restated in their final state",
    replies: [oneCall, completed, bodyOnly],
    actions: [
      send,
      { do: "answer", callId: "c1", approved: true },
      { do: "send", text: "Thank you" },
    ],
    posts: 3,
  },
  {
    id: "browser_approval",
    note: "A gated browser call, approved",
    replies: [browserCall, bodyOnly],
    actions: [send, { do: "answer", callId: "b1", approved: true }],
    posts: 2,
  },
  {
    id: "browser_result",
    note: "A gated browser call, approved, handed over and run: the result's own post",
    replies: [browserCall, handedOver, bodyOnly],
    actions: [send, { do: "answer", callId: "b1", approved: true }],
    options: { toolOutputs: { read_title: { title: "Orders" } } },
    posts: 3,
  },
  {
    id: "browser_error",
    note: "A browser call that failed: addToolOutput({state: \"output-error\"})",
    replies: [browserCall, handedOver, bodyOnly],
    actions: [
      send,
      { do: "answer", callId: "b1", approved: true },
      { do: "output", callId: "b1", tool: "read_title", errorText: "No such element" },
    ],
    posts: 3,
  },
  {
    id: "output_on_gated_call",
    note: "A page that answers a gated server call by addToolOutput: a bypass attempt",
    replies: [oneCall, bodyOnly],
    actions: [send, { do: "output", callId: "c1", tool: "delete_file", output: { deleted: true } }, { do: "continue" }],
    posts: 2,
  },
];
