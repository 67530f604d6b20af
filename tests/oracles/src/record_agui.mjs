// What a page of @ag-ui/client does, case by case; the frames are A1 of the measured ones.

function run(runId, body, outcome) {
  const ids = { threadId: "thread-1", runId };
  return [{ type: "RUN_STARTED", ...ids }, ...body, { type: "RUN_FINISHED", ...ids, outcome }];
}

function said(messageId, text) {
  return [
    { type: "TEXT_MESSAGE_START", messageId, role: "assistant" },
    { type: "TEXT_MESSAGE_CONTENT", messageId, delta: text },
    { type: "TEXT_MESSAGE_END", messageId },
  ];
}

function confirmation(id, path) {
  return {
    id,
    reason: "confirmation",
    message: "Deleting a file is irreversible",
    responseSchema: {
      type: "object",
      properties: { approved: { type: "boolean" }, reason: { type: "string" } },
      required: ["approved"],
    },
    metadata: { id, name: "delete_file", inputs: { path }, decision: "pending", risk: "destructive" },
  };
}

const interrupted = (...interrupts) => ({ type: "interrupt", interrupts });
const success = { type: "success" };

const answered = run("r1", said("a1", "Hello."), success);
const oneCall = run("r1", said("a1", "I will delete it."), interrupted(confirmation("c1", "/a")));
const twoCalls = run(
  "r1",
  said("a1", "I will delete them."),
  interrupted(confirmation("c1", "/a"), confirmation("c2", "/b")),
);
const typedInput = run(
  "r1",
  said("a1", "To whom?"),
  interrupted({
    id: "q1",
    reason: "input_required",
    responseSchema: { type: "object", properties: { to: { type: "string" } }, required: ["to"] },
  }),
);
const browserCall = run(
  "r1",
  [
    { type: "TOOL_CALL_START", toolCallId: "b1", toolCallName: "read_title", parentMessageId: "a1.calls" },
    { type: "TOOL_CALL_ARGS", toolCallId: "b1", delta: "{\"selector\":\"h1\"}" },
    { type: "TOOL_CALL_END", toolCallId: "b1" },
  ],
  success,
);

const tools = [
  {
    name: "read_title",
    description: "Read the title of the open page",
    parameters: { type: "object", properties: { selector: { type: "string" } }, required: ["selector"] },
  },
];

const send = { do: "send", text: "Delete /a", runId: "r1" };
const done = run("r2", said("a1.1", "Done."), success);

function resumed(id, note, answers, replies = [oneCall, done]) {
  return { id, note, replies, actions: [send, { do: "answer", answers, runId: "r2" }], posts: 2 };
}

export const AGUI_CASES = [
  { id: "first_run", note: "A new thread's first message", replies: [answered], actions: [send], posts: 1 },
  {
    id: "first_run_with_everything",
    note: "A first message with tools, state, context and forwarded properties",
    replies: [answered],
    actions: [send],
    options: {
      tools,
      state: { mine: 1 },
      context: [{ description: "locale", value: "en-GB" }],
      forwardedProps: { tenant: "blue" },
    },
    posts: 1,
  },
  {
    id: "second_run",
    note: "A message after a completed run; the whole history travels along",
    replies: [answered, done],
    actions: [send, { do: "send", text: "And now?", runId: "r2" }],
    posts: 2,
  },
  resumed("approve", "One interrupt, approved", { c1: { approved: true } }),
  resumed("reject", "One interrupt, rejected", { c1: { approved: false } }),
  resumed("reject_with_reason", "One interrupt, rejected with a reason", {
    c1: { approved: false, reason: "too risky" },
  }),
  resumed("cancel", "One interrupt, cancelled: no payload", { c1: null }),
  resumed(
    "two_interrupts",
    "Two interrupts, one approved and one rejected",
    { c1: { approved: true }, c2: { approved: false, reason: "not now" } },
    [twoCalls, done],
  ),
  resumed("typed_input", "Typed input", { q1: { to: "x@y" } }, [typedInput, done]),
  {
    id: "approve_beside_message",
    note: "A complete resume beside a new user message",
    replies: [oneCall, done],
    actions: [
      send,
      { do: "send", text: "And tell me the size", resume: [resolved("c1", { approved: true })], runId: "r2" },
    ],
    posts: 2,
  },
  {
    id: "uncovered_resume",
    note: "A reloaded page that forgot what was pending answers one of two interrupts",
    replies: [twoCalls, done],
    actions: [
      send,
      { do: "set", pending: [] },
      { do: "run", resume: [resolved("c1", { approved: true })], runId: "r2" },
    ],
    posts: 2,
  },
  {
    id: "message_while_pending",
    note: "A reloaded page that forgot what was pending sends new text",
    replies: [oneCall, done],
    actions: [
      send,
      { do: "set", pending: [] },
      { do: "send", text: "Never mind, hello?", runId: "r2" },
    ],
    posts: 2,
  },
  {
    id: "reload_empty_messages",
    note: "A fresh agent's runAgent() with no messages: asks for hydration",
    replies: [oneCall],
    actions: [{ do: "run", runId: "r2" }],
    posts: 1,
  },
  {
    id: "connect",
    note: "connectAgent() of a subclass that posts to {url}/connect",
    replies: [oneCall],
    actions: [{ do: "connect", runId: "r2" }],
    posts: 1,
  },
  {
    id: "frontend_tool_message",
    note: "The result of a browser tool: a role \"tool\" message, no resume",
    replies: [browserCall, done],
    actions: [
      send,
      {
        do: "add",
        messages: [{ id: "result-b1", role: "tool", toolCallId: "b1", content: "{\"title\":\"Orders\"}" }],
        wait: false,
      },
      { do: "run", runId: "r2" },
    ],
    options: { tools },
    posts: 2,
  },
  {
    id: "frontend_tool_error",
    note: "A browser tool that failed: `error` beside the content",
    replies: [browserCall, done],
    actions: [
      send,
      {
        do: "add",
        messages: [{ id: "result-b1", role: "tool", toolCallId: "b1", content: "", error: "No such element" }],
        wait: false,
      },
      { do: "run", runId: "r2" },
    ],
    options: { tools },
    posts: 2,
  },
];

function resolved(interruptId, payload) {
  return { interruptId, status: "resolved", payload };
}
