import { CopilotChat, useAgent, useInterrupt, useRenderTool } from '@copilotkit/react-core/v2'
import { Empty } from '@shared/empty'
import { AGENT } from './agent'
import { ChatInput } from './chat-input'
import { FailureContext } from './failure-context'
import { Interrupts } from './interrupts'
import { SessionProvider, useSession } from './session'
import { RecordContext, useThreadRecord } from './thread-record'
import { TranscriptCall } from './transcript-call'

// Slots are compared by identity: made anew in every render, they would draw the chat anew.
const MESSAGES = {
  userMessage: { className: 'so-own-message', 'data-testid': 'message-user' },
  assistantMessage: { className: 'so-agent-message', 'data-testid': 'message-assistant', toolbarVisible: false },
}
/** The button that scrolls to the end floats over the cards' own buttons. */
const SCROLL = { scrollToBottomButton: () => null }

interface ChatPageProps {
  thread: string
  failure: string | null
  /** A run began: whatever failed before is over. */
  onRunStarted: () => void
}

export function ChatPage({ thread, failure, onRunStarted }: ChatPageProps) {
  const { agent } = useAgent({ agentId: AGENT })
  const session = useSession(agent, onRunStarted)
  const record = useThreadRecord(agent, thread)

  // One hook for all kinds: each hook stages its own answers, and a run takes them all or none.
  useInterrupt({ agentId: AGENT, render: (props) => <Interrupts {...props} /> })
  useRenderTool({ name: '*', render: (props) => <TranscriptCall {...props} /> }, [])

  const blocked = failure !== null && session.asked.length === 0 && agent.pendingInterrupts.length > 0
  return (
    <FailureContext value={{ text: failure, blocked }}>
      <SessionProvider value={session}>
        <RecordContext value={record}>
          <main className="so-chat">
            {agent.messages.length === 0 && !agent.isRunning && <Empty />}
            <CopilotChat
              agentId={AGENT}
              threadId={thread}
              messageView={MESSAGES}
              input={ChatInput}
              scrollView={SCROLL}
              // The default follows the end, and would scroll the first card of a batch away.
              autoScroll="pin-to-send"
            />
          </main>
        </RecordContext>
      </SessionProvider>
    </FailureContext>
  )
}
