// One JSON line in, one JSON line out: {"id", "method", "params"} -> {"id", "result"} | {"id", "error"}.
// Requests are served side by side, so that two tabs can act at once; answers carry their request's id.
import "./report.mjs";

import { createInterface } from "node:readline";

import { AgentTab, fold as aguiFold } from "./agui_client.mjs";
import { errorJson } from "./report.mjs";
import { ChatTab } from "./vercel_chat.mjs";
import { fold as vercelFold, validate } from "./vercel_fold.mjs";

const tabs = new Map();
let opened = 0;

function keep(tab) {
  const session = `s${++opened}`;
  tabs.set(session, tab);
  return session;
}

function tabOf(session) {
  const tab = tabs.get(session);
  if (tab === undefined) throw new Error(`No open session ${session}`);
  return tab;
}

async function close(session) {
  const tab = tabOf(session);
  tabs.delete(session);
  await tab.close();
  return tab.state();
}

async function chat({ actions, ...options }) {
  const tab = await ChatTab.open(options);
  try {
    for (const action of actions) await tab.act(action);
    return await tab.state();
  } finally {
    await tab.close();
  }
}

const METHODS = {
  ping: () => ({ node: process.version }),
  vercel_fold: vercelFold,
  vercel_validate: validate,
  vercel_chat: chat,
  vercel_open: async (options) => ({ session: keep(await ChatTab.open(options)) }),
  agui_fold: aguiFold,
  agui_open: (options) => ({ session: keep(new AgentTab(options)) }),
  act: ({ session, action }) => tabOf(session).act(action),
  state: ({ session }) => tabOf(session).state(),
  close: ({ session }) => close(session),
};

async function serve(line) {
  let id = null;
  try {
    const request = JSON.parse(line);
    id = request.id;
    if (!Object.hasOwn(METHODS, request.method)) throw new Error(`No method ${request.method}`);
    return { id, result: await METHODS[request.method](request.params) };
  } catch (error) {
    return { id, error: errorJson(error) };
  }
}

// A client's stray rejection is that client's business; the process serves the other sessions on.
process.on("unhandledRejection", (reason) => process.stderr.write(`unhandled rejection: ${reason}\n`));
process.on("uncaughtException", (error) => process.stderr.write(`uncaught: ${error?.stack ?? error}\n`));

const lines = createInterface({ input: process.stdin });
lines.on("line", async (line) => {
  process.stdout.write(`${JSON.stringify(await serve(line))}\n`);
});
lines.on("close", () => process.exit(0));
