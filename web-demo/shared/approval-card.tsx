import { useEffect, useId, useRef, useState, type MouseEvent } from 'react'
import type { Action, Answer } from './action'
import { Escaped } from './escaped'
import { Expiry } from './expiry'
import { ExactRequest, Inputs, TextWarnings } from './inputs'
import { RejectForm } from './reject-form'
import { RiskBadge, riskMeaning } from './risk'

interface ApprovalCardProps {
  action: Action
  /** What was clicked, or what the server holds; null while the call is open. */
  answer: Answer | null
  /** Why an earlier answer to this card was not taken. */
  refusal: string | null
  /** What goes on after this card's answer, such as "Waiting for your other answer." */
  waiting: string
  onAnswer: (answer: Answer) => void
}

/**
 * One call that waits for a person.
 *
 * After the answer the card keeps its size: if it shrank, the second click of a double click
 * would land on the card below and approve that one too.
 */
export function ApprovalCard({ action, answer, refusal, waiting, onAnswer }: ApprovalCardProps) {
  const id = useId()
  return (
    <section
      className="so-card"
      role="group"
      aria-labelledby={`${id}-name`}
      aria-describedby={`${id}-reason`}
      data-testid="approval-card"
      data-call-id={action.id}
      data-state={answer ? 'answered' : 'open'}
      data-risk={action.risk ?? undefined}
    >
      <div className="so-card-body">
        <header className="so-card-head">
          <p className="so-eyebrow">{answer ? 'Answered' : 'Needs your approval'}</p>
          {action.risk && <RiskBadge risk={action.risk} />}
        </header>
        <h2 className="so-tool" id={`${id}-name`} tabIndex={-1} data-card-heading={answer ? undefined : ''}>
          <span className="so-sr-only">{answer ? 'Answered: ' : 'Needs your approval: '}</span>
          <Escaped text={action.name} />
        </h2>
        <div id={`${id}-reason`}>
          <p className="so-reason">
            {action.reason ? <Escaped text={action.reason} /> : action.risk && riskMeaning(action.risk)}
          </p>
        </div>
        <Inputs inputs={action.inputs} />
        <TextWarnings text={`${action.name}\n${action.reason}\n${action.json}`} />
        {action.preview && (
          <div className="so-preview">
            <p className="so-label">What would happen</p>
            <pre tabIndex={0}>
              <Escaped text={action.preview} />
            </pre>
          </div>
        )}
        <ExactRequest json={action.json} summary="Exact request (JSON)" />
      </div>
      <div className="so-stub">
        {refusal && !answer && (
          <p className="so-again" data-testid="asked-again">
            Asked again. {refusal}
          </p>
        )}
        {answer ? (
          <Given answer={answer} waiting={waiting} />
        ) : (
          <Choice action={action} onAnswer={onAnswer} />
        )}
      </div>
    </section>
  )
}

function Choice({ action, onAnswer }: Pick<ApprovalCardProps, 'action' | 'onAnswer'>) {
  const [rejecting, setRejecting] = useState(false)
  const rejectButton = useRef<HTMLButtonElement>(null)
  const returnFocus = useRef(false)

  useEffect(() => {
    if (rejecting || !returnFocus.current) return
    returnFocus.current = false
    rejectButton.current?.focus()
  }, [rejecting])

  if (rejecting) {
    return (
      <RejectForm
        name={action.name}
        onReject={(reason) => onAnswer(reason ? { approved: false, reason } : { approved: false })}
        onBack={() => {
          returnFocus.current = true
          setRejecting(false)
        }}
      />
    )
  }
  return (
    <>
      {action.expiresAt && <Expiry at={action.expiresAt} />}
      <div className="so-actions">
        <p className="so-assurance">Nothing runs until you answer.</p>
        <button
          ref={rejectButton}
          type="button"
          className="so-button"
          data-testid="reject"
          onClick={single(() => setRejecting(true))}
        >
          Reject<span className="so-sr-only"> {action.name}</span>
        </button>
        <button
          type="button"
          className="so-button so-button-strong"
          data-testid="approve"
          onClick={single(() => onAnswer({ approved: true }))}
        >
          Approve<span className="so-sr-only"> {action.name}</span>
        </button>
      </div>
    </>
  )
}

/** The second click of a double click means nothing, whatever lies under it by then. */
function single(act: () => void): (event: MouseEvent) => void {
  return (event) => {
    if (event.detail <= 1) act()
  }
}

function Given({ answer, waiting }: { answer: Answer; waiting: string }) {
  return (
    <div className="so-given" data-answer={answer.approved ? 'approved' : 'rejected'}>
      <p className="so-verdict">{answer.approved ? 'You approved this.' : 'You rejected this.'}</p>
      {!answer.approved && answer.reason && (
        <p className="so-quote">
          <Escaped text={answer.reason} />
        </p>
      )}
      <p className="so-waiting">{waiting}</p>
    </div>
  )
}
