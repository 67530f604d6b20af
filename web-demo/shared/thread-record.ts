import { isRecord, type Answer } from './action'

/** What the server holds of a thread, where a client's own protocol has no word for it. */
export interface ThreadRecord {
  status: string
  /** The decided calls that a person approved. */
  approved: ReadonlySet<string>
  /** The newest batch of calls, in the model's order. */
  batch: string[]
  /** The ids of the calls that wait for an answer. */
  pending: string[]
  /** The calls of the open batch that are answered already. */
  answered: AnsweredCall[]
}

export interface AnsweredCall {
  id: string
  answer: Answer
  /** The pending action as it came: for `readAction`. */
  wire: unknown
}

export const NO_RECORD: ThreadRecord = { status: 'new', approved: new Set(), batch: [], pending: [], answered: [] }

/** Asks natively how a thread stands. What it tells is an extra to every page: null where the server
 * does not answer, and the page's own client says so. */
export async function loadRecord(thread: string): Promise<ThreadRecord | null> {
  try {
    const response = await fetch(`/threads/${encodeURIComponent(thread)}`)
    return response.ok ? readRecord(await response.json()) : null
  } catch {
    return null
  }
}

/** Reads the document of `GET /threads/{id}`. */
export function readRecord(document: unknown): ThreadRecord {
  if (!isRecord(document)) return NO_RECORD
  const messages = records(document.messages)
  const results = messages.filter((one) => one.type === 'tool_call_result').flatMap((one) => records(one.tools))
  const batch = messages.findLast((one) => one.type === 'tool_call')
  return {
    status: typeof document.status === 'string' ? document.status : NO_RECORD.status,
    approved: new Set(texts(results.filter((one) => one.approval === 'approved').map((one) => one.callId))),
    batch: texts(records(batch?.tools).map((one) => one.callId)),
    pending: texts(records(document.pending).map((one) => one.id)),
    answered: records(document.answered).flatMap(readAnswered),
  }
}

function readAnswered(wire: Record<string, unknown>): AnsweredCall[] {
  const { id, decision, feedback } = wire
  if (typeof id !== 'string') return []
  if (decision === 'approve') return [{ id, wire, answer: { approved: true } }]
  if (decision !== 'reject') return []
  const reason = typeof feedback === 'string' && feedback !== '' ? { reason: feedback } : {}
  return [{ id, wire, answer: { approved: false, ...reason } }]
}

function records(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isRecord) : []
}

function texts(values: unknown[]): string[] {
  return values.filter((value) => typeof value === 'string')
}
