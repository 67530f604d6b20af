import type { ExactJson } from './exact-json'
import { printExact } from './exact-json'
import { Escaped } from './escaped'
import { ExactRequest, Inputs } from './inputs'
import type { Outcome } from './outcome'
import { summaryOf } from './summary'

interface SettledCallProps {
  id: string
  name: string
  inputs: ExactJson
  outcome: Outcome
  /** Whether the call ran because a person approved it; false also where the wire does not say. */
  approved: boolean
}

/** A decided call in the transcript: the stub that stays of the card. */
export function SettledCall({ id, name, inputs, outcome, approved }: SettledCallProps) {
  return (
    <section className="so-settled" data-testid="settled-call" data-call-id={id} data-outcome={outcome.kind}>
      <Mark kind={outcome.kind} />
      <div className="so-settled-body">
        <p className="so-settled-line">
          <span className="so-verdict">{verdict(outcome, approved)}</span>
          <span className="so-settled-name">
            <Escaped text={name} />
          </span>
        </p>
        <Summary inputs={inputs} />
        <Detail outcome={outcome} />
        <details className="so-exact">
          <summary>{outcome.kind === 'ran' ? 'Inputs and result' : 'Inputs'}</summary>
          <Inputs inputs={inputs} />
          {outcome.kind === 'ran' && <Result text={outcome.result} />}
          <ExactRequest json={printExact(inputs)} summary="Exact request (JSON)" />
        </details>
      </div>
    </section>
  )
}

/** One line to recognise the call by; it ends in an ellipsis where the line does, and the whole
 * stands folded away below. */
function Summary({ inputs }: { inputs: ExactJson }) {
  const summary = summaryOf(inputs)
  return summary === null ? null : (
    <p className="so-summary">
      <Escaped text={summary} />
    </p>
  )
}

/** A call that is under way and needs nobody. */
export function RunningCall({ id, name, note }: { id: string; name: string; note: string }) {
  return (
    <section className="so-settled so-running" data-testid="running-call" data-call-id={id}>
      <span className="so-spinner" aria-hidden="true" />
      <p className="so-settled-line">
        <span className="so-verdict">{note}</span>
        <span className="so-settled-name">
          <Escaped text={name} />
        </span>
      </p>
    </section>
  )
}

function verdict(outcome: Outcome, approved: boolean): string {
  switch (outcome.kind) {
    case 'ran':
      return approved ? 'Approved and ran' : 'Ran'
    case 'rejected':
      return 'Rejected, did not run'
    case 'error':
      return approved ? 'Approved, but failed' : 'Failed'
    case 'expired':
      return 'Expired, did not run'
    case 'unknown':
      return 'Outcome unknown'
  }
}

function Detail({ outcome }: { outcome: Outcome }) {
  switch (outcome.kind) {
    case 'ran':
      return null
    case 'rejected':
      return outcome.reason ? (
        <p className="so-quote">
          <Escaped text={outcome.reason} />
        </p>
      ) : null
    case 'error':
      return (
        <p className="so-detail">
          <Escaped text={outcome.text} />
        </p>
      )
    case 'expired':
      return <p className="so-detail">Nobody answered in time.</p>
    case 'unknown':
      return <p className="so-detail">It was started, but its result was lost. It is not run again: check before you ask for it once more.</p>
  }
}

function Result({ text }: { text: string }) {
  return (
    <div className="so-preview">
      <p className="so-label">Result</p>
      <pre tabIndex={0}>{text === '' ? <span className="so-note">empty</span> : <Escaped text={text} />}</pre>
    </div>
  )
}

const STROKES: Readonly<Record<Outcome['kind'], string>> = {
  ran: 'M4.5 8.4 7 10.8 11.6 5.6',
  rejected: 'M5.2 5.2 10.8 10.8M10.8 5.2 5.2 10.8',
  error: 'M8 4.4v4.4M8 11v.6',
  expired: 'M8 4.8V8.2L10.2 9.6',
  unknown: 'M6.1 6.3A1.95 1.95 0 1 1 8.6 8.2Q8 8.5 8 9.2M8 11.2v.4',
}

function Mark({ kind }: { kind: Outcome['kind'] }) {
  return (
    <svg className="so-mark" viewBox="0 0 16 16" aria-hidden="true">
      <circle cx="8" cy="8" r="7" />
      <path d={STROKES[kind]} />
    </svg>
  )
}
