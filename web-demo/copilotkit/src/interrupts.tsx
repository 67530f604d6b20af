import type { Interrupt } from '@ag-ui/client'
import type { InterruptRenderProps } from '@copilotkit/react-core/v2'
import type { Answer } from '@shared/action'
import { ApprovalBatch, type BatchItem } from '@shared/approval-batch'
import type { ThreadRecord } from '@shared/thread-record'
import { readPending, toAction } from './calls'
import { useCurrentSession } from './session'
import { useRecord } from './thread-record'

/** The only reason this page can answer. */
const APPROVAL = 'confirmation'

type InterruptsProps = Pick<InterruptRenderProps, 'interrupts' | 'resolve' | 'cancel'>

/** The cards of a pause. CopilotKit stages the answers and posts them all after the last one. */
export function Interrupts({ interrupts, resolve, cancel }: InterruptsProps) {
  const session = useCurrentSession()
  const record = useRecord()
  // CopilotKit draws its cards a moment longer than they are open; undecided in that moment, they
  // would be live again, and take the focus with them.
  const approvals = interrupts.filter(
    ({ id, reason }) => reason === APPROVAL && (session.asked.includes(id) || session.carriedOut.has(id)),
  )
  const asked = approvals.map(
    (interrupt): BatchItem => ({
      action: toAction(interrupt),
      answer: session.answers.get(interrupt.id) ?? session.carriedOut.get(interrupt.id) ?? null,
      refusal: session.refusals.get(interrupt.id) ?? null,
    }),
  )
  const others = interrupts.filter((interrupt) => interrupt.reason !== APPROVAL)

  function answer(id: string, given: Answer) {
    if (session.record(id, given)) quietly(resolve(given, id))
  }

  return (
    <>
      {approvals.length > 0 && (
        <ApprovalBatch
          failed={false}
          items={inOrder([...answeredElsewhere(approvals, record), ...asked], record.batch)}
          onAnswer={answer}
        />
      )}
      {others.map((interrupt) => (
        <OtherQuestion key={interrupt.id} interrupt={interrupt} onCancel={() => quietly(cancel(interrupt.id))} />
      ))}
    </>
  )
}

/** The calls of the same pause that were answered elsewhere: no interrupt stands for them any more. */
function answeredElsewhere(approvals: readonly Interrupt[], record: ThreadRecord): BatchItem[] {
  const asked = new Set(approvals.map(({ id }) => id))
  if (!record.pending.some((id) => asked.has(id))) return []
  return record.answered
    .filter(({ id }) => !asked.has(id))
    .map(({ id, answer, wire }) => ({ action: readPending(wire, id), answer, refusal: null }))
}

function inOrder(items: BatchItem[], batch: readonly string[]): BatchItem[] {
  return items.toSorted((one, other) => batch.indexOf(one.action.id) - batch.indexOf(other.action.id))
}

/** A question of a kind this page has no form for can be declined, so that the chat goes on. */
function OtherQuestion({ interrupt, onCancel }: { interrupt: Interrupt; onCancel: () => void }) {
  return (
    <div className="so-problem" data-testid="other-question">
      <p>{interrupt.message ?? 'The agent asks for something this page has no form for.'}</p>
      <button type="button" className="so-button" onClick={onCancel}>
        Decline
      </button>
    </div>
  )
}

/** A failed request is reported by the provider's `onError`; here it would only be unhandled. */
function quietly(request: unknown): void {
  Promise.resolve(request).catch(() => undefined)
}
