import type { Action, Answer } from './action'
import { ApprovalCard } from './approval-card'
import { useCardFocus } from './card-focus'

export interface BatchItem {
  action: Action
  answer: Answer | null
  refusal: string | null
}

const NOT_ARRIVED = 'This may not have reached the server. Retry to see what it holds.'

interface ApprovalBatchProps {
  items: BatchItem[]
  /** The last request failed, so what was answered may not have arrived. */
  failed: boolean
  onAnswer: (id: string, answer: Answer) => void
}

/** All calls of one pause. The run goes on when the last of them is answered. */
export function ApprovalBatch({ items, failed, onAnswer }: ApprovalBatchProps) {
  const open = items.filter((item) => item.answer === null)
  const answered = items.length - open.length
  useCardFocus(
    open.map((item) => item.action.id),
    items.length,
  )
  return (
    <div className="so-batch" data-testid="approval-batch">
      <p className={items.length > 1 ? 'so-progress' : 'so-sr-only'} role="status" data-testid="batch-progress">
        {progress(items.length, answered)}
      </p>
      {items.map(({ action, answer, refusal }) => (
        <ApprovalCard
          key={action.id}
          action={action}
          answer={answer}
          refusal={refusal}
          waiting={failed ? NOT_ARRIVED : waitingText(answer, open.length, items.length)}
          onAnswer={(given) => onAnswer(action.id, given)}
        />
      ))}
    </div>
  )
}

function progress(all: number, answered: number): string {
  if (answered === all) return all === 1 ? 'Answered.' : `${all} of ${all} answered.`
  if (all === 1) return '1 action needs your answer.'
  return `${answered} of ${all} answered. Nothing runs before the last answer.`
}

function waitingText(answer: Answer | null, open: number, all: number): string {
  if (open > 0) return `Waiting for the rest: ${all - open} of ${all} answered.`
  return answer?.approved ? 'It is being carried out.' : 'The agent is being told.'
}
