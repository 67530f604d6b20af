// Frames through the AI SDK's own parser and reader, without a chat around them.
import { errorJson, plain } from "./report.mjs";
import { sdkOf } from "./vercel_sdk.mjs";

/** A byte stream of `text`, cut every `size` bytes (0: in one piece), as a network would. */
export function byteStream(text, size = 0) {
  const bytes = new TextEncoder().encode(text);
  const step = size > 0 ? size : Math.max(bytes.length, 1);
  return new ReadableStream({
    start(controller) {
      for (let at = 0; at < bytes.length; at += step) controller.enqueue(bytes.slice(at, at + step));
      controller.close();
    },
  });
}

/** Folds one SSE body; `message` is the assistant message it continues. */
export async function fold({ text, message = null, sdk = "7", size = 0 }) {
  const { parseJsonEventStream, chunkSchema, readUIMessageStream } = sdkOf(sdk);
  const chunks = [];
  const onData = [];
  const stream = parseJsonEventStream({ stream: byteStream(text, size), schema: chunkSchema }).pipeThrough(
    new TransformStream({
      transform(result, controller) {
        if (!result.success) throw result.error;
        chunks.push(result.value.type);
        if (result.value.type.startsWith("data-")) onData.push(plain(result.value));
        controller.enqueue(result.value);
      },
    }),
  );
  let last = message;
  let snapshots = 0;
  let error = null;
  try {
    const messages = readUIMessageStream({
      message: message === null ? undefined : structuredClone(message),
      stream,
      terminateOnError: true,
      onError: (thrown) => {
        error ??= thrown;
      },
    });
    for await (const snapshot of messages) {
      last = snapshot;
      snapshots += 1;
    }
  } catch (thrown) {
    error ??= thrown;
  }
  return { message: plain(last), snapshots, chunks, onData, error: errorJson(error) };
}

/** `validateUIMessages` on messages as JSON carried them. */
export async function validate({ messages, sdk = "7" }) {
  try {
    await sdkOf(sdk).validateUIMessages({ messages });
    return { error: null };
  } catch (thrown) {
    return { error: errorJson(thrown) };
  }
}
