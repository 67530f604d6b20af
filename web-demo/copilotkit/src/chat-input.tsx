import { useEffect, useRef } from 'react'
import { CopilotChatInput, useAgent, type CopilotChatInputProps } from '@copilotkit/react-core/v2'
import { lockSentence, Problem, RefusalNotice, Unfinished, type Refusal } from '@shared/notices'
import { AGENT } from './agent'
import { toNamedCall } from './calls'
import { useCurrentSession } from './session'
import { useFailure } from './failure-context'
import { useRecord } from './thread-record'

/**
 * CopilotChat's own input with what belongs above it. The lock has to be ours: CopilotKit refuses
 * a message while interrupts are open, but only after it has taken the text out of the input.
 */
function LockableInput(props: CopilotChatInputProps) {
  const { agent } = useAgent({ agentId: AGENT })
  const session = useCurrentSession()
  const record = useRecord()
  const failure = useFailure()
  const open = session.asked.filter((id) => !session.answers.has(id)).length
  const locked = session.asked.length > 0 || failure.blocked
  const told = failure.text !== null || session.refusal !== null
  const unfinished = record.status === 'failed' && !told && !props.isRunning
  const submit = useTakenBack(props, session.refusal)
  const place = useFocusWhenOpen(!locked && !props.isRunning)
  return (
    <div className="so-input" ref={place}>
      <RefusalNotice refusal={session.refusal} callOf={(callId) => toNamedCall(agent, callId)} />
      <Unfinished shown={unfinished} />
      {failure.text && <Problem text={failure.text} onRetry={() => window.location.reload()} />}
      {open > 0 && (
        <p className="so-lock" id="so-lock" data-testid="lock">
          {lockSentence(open)}
        </p>
      )}
      <CopilotChatInput
        {...props}
        {...(submit ? { onSubmitMessage: submit } : {})}
        showDisclaimer={false}
        addMenuButton={Nothing}
        textArea={locked ? LOCKED_FIELD : OPEN_FIELD}
        sendButton={locked ? LOCKED_SEND : OPEN_SEND}
      />
    </div>
  )
}

/** The message of a page that did not know of an open call is refused, and leaves the transcript
 * with the snapshot that follows. What was typed comes back into the input. */
function useTakenBack(props: CopilotChatInputProps, refusal: Refusal | null) {
  const { onSubmitMessage, onChange } = props
  const submitted = useRef('')
  const putBack = useRef(onChange)
  putBack.current = onChange

  useEffect(() => {
    if (refusal?.code === 'awaiting_decision') putBack.current?.(submitted.current)
  }, [refusal])

  // Without a handler CopilotChat is not ready to send, and the button has to stay disabled.
  return (
    onSubmitMessage &&
    ((text: string) => {
      submitted.current = text
      onSubmitMessage(text)
    })
  )
}

/** A disabled field loses the focus; whoever answered goes on writing here. */
function useFocusWhenOpen(open: boolean) {
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (!open || document.activeElement !== document.body) return
    place.current?.querySelector('textarea')?.focus({ preventScroll: true })
  }, [open])
  return place
}

function Nothing() {
  return null
}

const OPEN_FIELD = { 'data-testid': 'chat-input', 'aria-label': 'Message', placeholder: 'Write to the agent' }
const LOCKED_FIELD = {
  ...OPEN_FIELD,
  disabled: true,
  placeholder: 'Locked',
  'aria-describedby': 'so-lock',
}
const OPEN_SEND = { 'data-testid': 'send', 'aria-label': 'Send' }
const LOCKED_SEND = { ...OPEN_SEND, disabled: true }

/** The slot asks for a component with the parts of CopilotChatInput on it. */
export const ChatInput = Object.assign(LockableInput, CopilotChatInput)
