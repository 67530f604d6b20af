// Records the request bodies the real clients post, against a server that replays fixed frames.
// `npm run record` rewrites fixtures/*.json, `npm run record -- DIR` writes them elsewhere; nothing in
// them is written by hand but the frames served.
import "./report.mjs";

import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";

import { AgentTab } from "./agui_client.mjs";
import { AGUI_CASES } from "./record_agui.mjs";
import { VERCEL_CASES } from "./record_vercel.mjs";
import { ChatTab } from "./vercel_chat.mjs";
import { sdkOf } from "./vercel_sdk.mjs";

/** Serves `replies` one after the other; the last one again and again. */
async function replaying(replies, work) {
  let next = 0;
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      const frames = replies[Math.min(next++, replies.length - 1)];
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(frames.map((frame) => `data: ${JSON.stringify(frame)}\n\n`).join(""));
    });
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  try {
    return await work(`http://127.0.0.1:${server.address().port}`);
  } finally {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  }
}

async function drive(tab, actions) {
  try {
    for (const action of actions) await tab.act(action);
    return await tab.state();
  } finally {
    await tab.close();
  }
}

/** The request of interest is the last post, and the page's own view before it was the reply before. */
function fixture(note, replies, state) {
  const posted = state.exchanges.filter(({ method }) => method === "POST");
  const last = posted.at(-1);
  return {
    note,
    served: replies.slice(0, posted.length - 1),
    method: last.method,
    path: new URL(last.url).pathname,
    headers: { accept: last.requestHeaders.accept ?? null, "content-type": last.requestHeaders["content-type"] },
    body: last.body,
  };
}

async function vercel(sdk) {
  const requests = {};
  for (const { id, note, replies, actions, posts, options = {} } of VERCEL_CASES) {
    const state = await replaying(replies, async (baseUrl) =>
      drive(await ChatTab.open({ baseUrl, id: "chat-1", sdk, idPrefix: "u", ...options }), actions),
    );
    expectPosts(id, state, posts);
    requests[id] = fixture(note, replies, state);
  }
  return { client: sdkOf(sdk).packages, recorded: true, requests };
}

async function agui(version) {
  const requests = {};
  for (const { id, note, replies, actions, posts, options = {} } of AGUI_CASES) {
    const state = await replaying(replies, (baseUrl) =>
      drive(new AgentTab({ url: `${baseUrl}/ag-ui`, threadId: "thread-1", version, ...options }), actions),
    );
    expectPosts(id, state, posts);
    requests[id] = fixture(note, replies, state);
  }
  return { client: { "@ag-ui/client": version }, recorded: true, requests };
}

function expectPosts(id, state, posts) {
  if (state.posts !== posts) throw new Error(`${id}: ${state.posts} posts, not ${posts}: ${JSON.stringify(state)}`);
}

const folder = process.argv[2] ?? fileURLToPath(new URL("../fixtures", import.meta.url));

async function write(name, value) {
  await writeFile(`${folder}/${name}.json`, `${JSON.stringify(value, null, 2)}\n`);
}

await write("vercel_sdk7", await vercel("7"));
await write("vercel_sdk6", await vercel("6"));
await write("ag_ui_1.0.0", await agui("1.0.0"));
await write("ag_ui_0.0.59", await agui("0.0.59"));
process.exit(0);
