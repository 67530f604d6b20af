// What a client said, as JSON: errors and console warnings.
import { AsyncLocalStorage } from "node:async_hooks";

const warnings = new AsyncLocalStorage();

/** Plain JSON of whatever was thrown; `null` stays `null`. */
export function errorJson(error) {
  if (error === null || error === undefined) return null;
  if (!(error instanceof Error)) return { name: "Thrown", message: String(error) };
  const json = { name: error.name, message: error.message };
  const status = error.statusCode ?? error.status;
  if (typeof status === "number") json.status = status;
  if (error.payload !== undefined) json.payload = error.payload;
  return json;
}

/** The value as the wire would carry it: `undefined` members drop out. */
export function plain(value) {
  return value === undefined ? null : JSON.parse(JSON.stringify(value));
}

/** Runs `work`; what the clients print meanwhile is pushed to `into`. */
export function collectingWarnings(into, work) {
  return warnings.run(into, work);
}

// Both client families warn on the console where they repair a frame (@ag-ui/client 1.0.0 reads an
// unknown outcome as success and only says so there). stdout carries answers, so nothing may print.
for (const level of ["log", "info", "debug", "warn", "error", "trace"]) {
  console[level] = (...parts) => {
    const text = parts.map((part) => (part instanceof Error ? part.message : String(part))).join(" ");
    if (level === "warn" || level === "error") warnings.getStore()?.push(text);
    process.stderr.write(`${level}: ${text}\n`);
  };
}
