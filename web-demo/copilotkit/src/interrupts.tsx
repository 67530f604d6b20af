import type { Interrupt } from '@ag-ui/client'
import type { InterruptRenderProps } from '@copilotkit/react-core/v2'
import { isRecord, readAction, type Answer } from '@shared/action'
import { ApprovalBatch } from '@shared/approval-batch'
import { useCurrentSession } from './session'

/** The only reason this page can answer. */
const APPROVAL = 'confirmation'

type InterruptsProps = Pick<InterruptRenderProps, 'interrupts' | 'resolve' | 'cancel'>

/** The cards of a pause. CopilotKit stages the answers and posts them all after the last one. */
export function Interrupts({ interrupts, resolve, cancel }: InterruptsProps) {
  const session = useCurrentSession()
  // CopilotKit draws its cards a moment longer than they are open; undecided in that moment, they
  // would be live again, and take the focus with them.
  const approvals = interrupts.filter(
    ({ id, reason }) => reason === APPROVAL && (session.asked.includes(id) || session.carriedOut.has(id)),
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
          items={approvals.map((interrupt) => ({
            action: toAction(interrupt),
            answer: session.answers.get(interrupt.id) ?? session.carriedOut.get(interrupt.id) ?? null,
            refusal: session.refusals.get(interrupt.id) ?? null,
          }))}
          onAnswer={answer}
        />
      )}
      {others.map((interrupt) => (
        <OtherQuestion key={interrupt.id} interrupt={interrupt} onCancel={() => quietly(cancel(interrupt.id))} />
      ))}
    </>
  )
}

function toAction(interrupt: Interrupt) {
  const metadata: unknown = interrupt.metadata
  const name = isRecord(metadata) && typeof metadata.name === 'string' ? metadata.name : 'Tool call'
  return readAction(metadata, { id: interrupt.id, name, inputs: {}, reason: interrupt.message })
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
