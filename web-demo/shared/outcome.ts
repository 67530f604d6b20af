/** How a decided call ended. */
export type Outcome =
  | { kind: 'ran'; result: string }
  | { kind: 'rejected'; reason: string | null }
  | { kind: 'error'; text: string }
  | { kind: 'expired' }
  | { kind: 'unknown' }

const REJECTED = 'TOOL NOT EXECUTED. The user rejected this action. User instruction: '
const REJECTED_END =
  ". Do not attempt this tool again. Follow the user's instruction or reconsider your plan."
const NO_REASON = 'No specific instruction provided'
const EXPIRED = 'TOOL NOT EXECUTED. Nobody answered'
/** Begins the text about arguments that could not be read. */
const INVALID = 'INVALID ARGUMENTS.'
/** Begins every text about a call that never ran; where nobody rejected it, it says what happened. */
const NOT_EXECUTED = 'TOOL NOT EXECUTED.'
const UNKNOWN = 'OUTCOME UNKNOWN.'

/**
 * The outcome behind a tool message of AG-UI, whose only carrier is the text the model reads.
 *
 * `failed`: the message has an `error` beside its content, as snapshots of failed calls do.
 */
export function readOutcome(content: string, failed = false): Outcome {
  if (content.startsWith(UNKNOWN)) return { kind: 'unknown' }
  if (content.startsWith(EXPIRED)) return { kind: 'expired' }
  if (content.startsWith(REJECTED)) return { kind: 'rejected', reason: readReason(content) }
  const error = failed || content.startsWith(NOT_EXECUTED) || content.startsWith(INVALID)
  return error ? { kind: 'error', text: content } : { kind: 'ran', result: content }
}

function readReason(content: string): string | null {
  const rest = content.slice(REJECTED.length)
  const reason = rest.endsWith(REJECTED_END) ? rest.slice(0, -REJECTED_END.length) : rest
  return reason === NO_REASON ? null : reason
}

/** A denial on the Vercel wire. Calls that expired, failed or were lost without an approval on
 * record are denials there too, with a reason of the server's own. */
export function readDenial(reason: string | undefined): Outcome {
  if (reason?.startsWith(UNKNOWN)) return { kind: 'unknown' }
  if (reason?.startsWith(NOT_EXECUTED)) return { kind: 'error', text: reason }
  return reason === 'expired' ? { kind: 'expired' } : { kind: 'rejected', reason: reason || null }
}

export function readFailure(text: string): Outcome {
  return text.startsWith(UNKNOWN) ? { kind: 'unknown' } : { kind: 'error', text }
}

/** A tool's output as text: strings as they are, anything else as JSON. */
export function outputText(output: unknown): string {
  return typeof output === 'string' ? output : JSON.stringify(output, null, 2)
}
