import { useRef, useState } from 'react'
import { useChat } from '@ai-sdk/react'
import {
  DefaultChatTransport,
  generateId,
  isToolUIPart,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
  type UIMessage,
} from 'ai'
import type { Answer } from '@shared/action'
import { lockSentence, Problem, readRefusal, RefusalNotice, Unfinished, type Refusal } from '@shared/notices'
import type { Kept, Unsent } from './app'
import { toNamedCall } from './blocks'
import { Composer } from './composer'
import { onlyTheSubject } from './request-body'
import { CHAT, chatFailure } from './server'
import { Transcript } from './transcript'
import { useAnswers } from './use-answers'
import { useFollow } from './use-follow'
import { useStop } from './use-stop'

const CUT_SHORT = 'The reply broke off. The server may still be at work.'

/** Answers go out by themselves once the last one of a step is in. Either predicate alone misses
 * cases: the first a browser tool's result, the second a denied call. */
function isReadyToSend(options: { messages: UIMessage[] }): boolean {
  return (
    lastAssistantMessageIsCompleteWithApprovalResponses(options) ||
    lastAssistantMessageIsCompleteWithToolCalls(options)
  )
}

interface ChatProps {
  thread: string
  messages: UIMessage[]
  draft: string
  refusal: Refusal | null
  /** The newest run of the loaded thread failed. */
  unfinished: boolean
  onReload: (kept: Partial<Kept>) => void
}

export function Chat({ thread, messages: stored, draft: initialDraft, onReload, ...loaded }: ChatProps) {
  const [draft, setDraft] = useState(initialDraft)
  const [refusal, setRefusal] = useState(loaded.refusal)
  const [unfinished, setUnfinished] = useState(loaded.unfinished)
  const [cutShort, setCutShort] = useState(false)
  const [transport] = useState(() => new DefaultChatTransport({ api: CHAT, prepareSendMessagesRequest: onlyTheSubject }))
  const answers = useAnswers()
  const sent = useRef<Unsent | null>(null)
  const turnedAway = useRef<Refusal | null>(null)

  const chat = useChat({
    id: thread,
    messages: stored,
    resume: true,
    transport,
    sendAutomaticallyWhen: isReadyToSend,
    onData(part) {
      if (part.type !== 'data-signoff-refused') return
      const refused = readRefusal(part.data)
      setRefusal(refused)
      answers.refuse(refused.message)
      if (refused.code === 'awaiting_decision') turnedAway.current = refused
    },
    onError: answers.settle,
    onFinish({ isAbort, isError, finishReason }) {
      answers.settle()
      if (!isError) setUnfinished(false)
      setCutShort(!isAbort && !isError && finishReason === undefined)
      // This page did not know of an open call. What it sent is not stored: it goes back into the
      // input, and the rest of the thread is read anew.
      if (turnedAway.current) onReload({ unsent: sent.current, refusal: turnedAway.current })
      if (!isError) sent.current = null
    },
  })

  const busy = chat.status === 'submitted' || chat.status === 'streaming'
  const open = calls(chat.messages, 'approval-requested').filter((id) => !answers.own.clicked.has(id))
  // For a while after a run failed, its end is streamed once more to a page that loads the thread.
  const toldBefore = unfinished && chat.error?.name === 'Error'
  const failure = chat.error && !toldBefore ? chatFailure(chat.error) : cutShort ? CUT_SHORT : null
  const { stop, stopping } = useStop(thread, busy, () => void chat.stop().then(() => onReload({})))
  // A question is read from its beginning: following the end would push that out of view.
  useFollow(chat.messages, busy && open.length === 0)

  function answer(callId: string, given: Answer) {
    if (answers.own.clicked.has(callId)) return
    answers.record(callId, given)
    setRefusal(null)
    setUnfinished(false)
    const reason = !given.approved && given.reason ? { reason: given.reason } : {}
    void chat.addToolApprovalResponse({ id: callId, approved: given.approved, ...reason })
  }

  function send(text: string) {
    answers.forgetRefusals()
    setRefusal(null)
    setCutShort(false)
    setUnfinished(false)
    setDraft('')
    sent.current = { id: generateId(), text }
    void chat.sendMessage({ id: sent.current.id, role: 'user', parts: [{ type: 'text', text }] })
  }

  return (
    <main className="so-column">
      <div className="so-main">
        <Transcript
          messages={chat.messages}
          busy={busy}
          failed={failure !== null}
          own={answers.own}
          onAnswer={answer}
        />
      </div>
      <div className="so-dock">
        <RefusalNotice refusal={refusal} callOf={(callId) => toNamedCall(chat.messages, callId)} />
        <Unfinished shown={unfinished && !busy && failure === null} />
        {failure && <Problem text={failure} onRetry={() => onReload({ unsent: sent.current })} />}
        <Composer
          draft={draft}
          busy={busy}
          stopping={stopping}
          lock={lockOf(open.length, failure !== null && calls(chat.messages, 'approval-responded').length > 0)}
          onDraft={setDraft}
          onSend={send}
          onStop={stop}
        />
      </div>
    </main>
  )
}

/** The calls of the newest message that wait for an answer, or for what comes of it. */
function calls(messages: UIMessage[], state: 'approval-requested' | 'approval-responded'): string[] {
  const last = messages.at(-1)
  if (last?.role !== 'assistant') return []
  return last.parts.flatMap((part) => (isToolUIPart(part) && part.state === state ? [part.toolCallId] : []))
}

function lockOf(open: number, unsure: boolean): string | null {
  if (open > 0) return lockSentence(open)
  return unsure ? 'Retry before you go on: an answer may not have reached the server.' : null
}
