import { Escaped } from './escaped'
import type { ExactJson } from './exact-json'
import { summaryOf } from './summary'

/** What the server would not take, and why: `signoff.refused`, `data-signoff-refused`. */
export interface Refusal {
  code: string
  message: string
  /** The call it is about, where it is about one. */
  callId: string | null
}

/** A call as a notice names it. */
export interface NamedCall {
  name: string
  inputs: ExactJson
}

export function readRefusal(value: unknown): Refusal {
  const source = typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  return {
    code: typeof source.code === 'string' ? source.code : 'refused',
    message: typeof source.message === 'string' && source.message ? source.message : 'The server did not take this.',
    callId: typeof source.callId === 'string' ? source.callId : null,
  }
}

interface RefusalNoticeProps {
  refusal: Refusal | null
  /** Finds the call that the refusal is about; null where the page does not show it. */
  callOf: (callId: string) => NamedCall | null
}

export function RefusalNotice({ refusal, callOf }: RefusalNoticeProps) {
  const call = refusal?.callId ? callOf(refusal.callId) : null
  return (
    <div role="alert" className="so-alert-place">
      {refusal && (
        <div className="so-refusal" data-testid="refusal" data-code={refusal.code}>
          <p>
            <Escaped text={refusal.message} />
          </p>
          {call && <CallLine call={call} />}
        </div>
      )}
    </div>
  )
}

function CallLine({ call }: { call: NamedCall }) {
  const summary = summaryOf(call.inputs)
  return (
    <p className="so-refusal-call" data-testid="refusal-call">
      <code>
        <Escaped text={call.name} />
      </code>
      {summary && (
        <span>
          {' '}
          <Escaped text={summary} />
        </span>
      )}
    </p>
  )
}

/** Says of a thread that was loaded why its last answer has no end. */
export function Unfinished({ shown }: { shown: boolean }) {
  return (
    <div role="status" className="so-alert-place">
      {shown && (
        <p className="so-unfinished" data-testid="unfinished">
          The last run did not finish, and nothing more of it will run. You can go on.
        </p>
      )}
    </div>
  )
}

export function Problem({ text, onRetry }: { text: string; onRetry: () => void }) {
  return (
    <div role="alert" className="so-problem" data-testid="problem">
      <p>
        <Escaped text={text} />
      </p>
      <button type="button" className="so-button" data-testid="retry" onClick={onRetry}>
        Retry
      </button>
    </div>
  )
}

/** Why nothing can be written now. */
export function lockSentence(open: number): string {
  return open === 1
    ? 'Answer the request above to go on writing.'
    : `Answer the ${open} requests above to go on writing.`
}
