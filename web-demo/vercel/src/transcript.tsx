import { isReasoningUIPart, isTextUIPart, isToolUIPart, type UIMessage } from 'ai'
import type { Answer } from '@shared/action'
import { ApprovalBatch } from '@shared/approval-batch'
import { Empty } from '@shared/empty'
import { Escaped } from '@shared/escaped'
import { Prose } from '@shared/prose'
import { toBlocks, type Block, type OwnAnswers } from './blocks'
import { ToolCall } from './tool-call'

interface TranscriptProps {
  messages: UIMessage[]
  busy: boolean
  failed: boolean
  own: OwnAnswers
  onAnswer: (callId: string, answer: Answer) => void
}

export function Transcript({ messages, busy, failed, own, onAnswer }: TranscriptProps) {
  if (messages.length === 0) return <Empty />
  const last = messages.at(-1)
  return (
    <div className="so-transcript">
      {messages.map((message) =>
        message.role === 'user' ? (
          <article key={message.id} className="so-user" data-testid="message-user" aria-label="You">
            <Escaped text={textOf(message)} />
          </article>
        ) : (
          message.parts.length > 0 && (
            <article key={message.id} className="so-assistant" data-testid="message-assistant" aria-label="Agent">
              {toBlocks(message, own).map((block, at) => (
                <BlockView key={at} block={block} failed={failed} onAnswer={onAnswer} />
              ))}
            </article>
          )
        ),
      )}
      {busy && !hasVisibleEnd(last) && (
        <p className="so-thinking" role="status">
          <span className="so-sr-only">The agent is working</span>
          <i aria-hidden="true" />
          <i aria-hidden="true" />
          <i aria-hidden="true" />
        </p>
      )}
    </div>
  )
}

type BlockViewProps = { block: Block } & Pick<TranscriptProps, 'failed' | 'onAnswer'>

function BlockView({ block, failed, onAnswer }: BlockViewProps) {
  switch (block.kind) {
    case 'text':
      return <Prose text={block.text} />
    case 'reasoning':
      return (
        <details className="so-reasoning">
          <summary>Reasoning</summary>
          <Prose text={block.text} />
        </details>
      )
    case 'call':
      return <ToolCall part={block.part} />
    case 'approvals':
      return <ApprovalBatch items={block.items} failed={failed} onAnswer={onAnswer} />
  }
}

function textOf(message: UIMessage): string {
  return message.parts
    .filter(isTextUIPart)
    .map((part) => part.text)
    .join('\n')
}

/** Whether the reader can see that something goes on, without the three dots. */
function hasVisibleEnd(message: UIMessage | undefined): boolean {
  const part = message?.role === 'assistant' ? message.parts.at(-1) : undefined
  if (!part) return false
  if (isTextUIPart(part) || isReasoningUIPart(part)) return part.state === 'streaming'
  return isToolUIPart(part) && part.state !== 'output-available'
}
