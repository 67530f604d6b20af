import {
  getToolName,
  isReasoningUIPart,
  isTextUIPart,
  isToolUIPart,
  type DynamicToolUIPart,
  type ToolUIPart,
  type UIMessage,
} from 'ai'
import { isRecord, readAction, readInputs, type Answer } from '@shared/action'
import type { BatchItem } from '@shared/approval-batch'
import type { NamedCall } from '@shared/notices'

export type ToolPart = ToolUIPart | DynamicToolUIPart

/** What the transcript shows of an assistant message, in order. */
export type Block =
  | { kind: 'text'; text: string }
  | { kind: 'reasoning'; text: string }
  | { kind: 'call'; part: ToolPart }
  | { kind: 'approvals'; items: BatchItem[] }

/** What this page knows of its own answers, beyond the parts. */
export interface OwnAnswers {
  /** Answers the SDK has not taken over yet, by callId. */
  clicked: ReadonlyMap<string, Answer>
  /** Why the server did not take what this page answered, by callId. */
  refusals: ReadonlyMap<string, string>
}

/** Groups a message's parts. Neighbouring calls that wait for a person, or for the rest of their
 * batch, are one block: they are answered together. */
export function toBlocks(message: UIMessage, own: OwnAnswers): Block[] {
  const blocks: Block[] = []
  for (const part of message.parts) {
    if (isTextUIPart(part)) {
      if (part.text.trim() !== '') blocks.push({ kind: 'text', text: part.text })
    } else if (isReasoningUIPart(part)) {
      if (part.text.trim() !== '') blocks.push({ kind: 'reasoning', text: part.text })
    } else if (isToolUIPart(part)) {
      addCall(blocks, part, message.metadata, own)
    }
  }
  return blocks
}

function addCall(blocks: Block[], part: ToolPart, metadata: unknown, own: OwnAnswers): void {
  if (part.state !== 'approval-requested' && part.state !== 'approval-responded') {
    blocks.push({ kind: 'call', part })
    return
  }
  const last = blocks.at(-1)
  const items = last?.kind === 'approvals' ? last.items : []
  if (last?.kind !== 'approvals') blocks.push({ kind: 'approvals', items })
  items.push(toItem(part, metadata, own))
}

type AskedPart = Extract<ToolPart, { state: 'approval-requested' | 'approval-responded' }>

function toItem(part: AskedPart, metadata: unknown, own: OwnAnswers): BatchItem {
  const facts = {
    id: part.toolCallId,
    name: getToolName(part),
    inputs: part.input,
    reason: part.approval.requestReason,
  }
  const action = readAction(part.approval.descriptor ?? kept(metadata, part.toolCallId), facts)
  const answer = part.state === 'approval-responded' ? given(part) : (own.clicked.get(part.toolCallId) ?? null)
  return { action, answer, refusal: own.refusals.get(part.toolCallId) ?? null }
}

/** The call of this id, wherever it stands. */
export function toNamedCall(messages: readonly UIMessage[], callId: string): NamedCall | null {
  for (const message of messages.toReversed()) {
    const part = message.parts.filter(isToolUIPart).find((one) => one.toolCallId === callId)
    if (part) return { name: getToolName(part), inputs: inputsOf(part) }
  }
  return null
}

/** The inputs of a part; the descriptor has numbers as they were written. */
export function inputsOf(part: ToolPart) {
  const descriptor = part.approval?.descriptor
  return readInputs(isRecord(descriptor) ? descriptor.description : undefined, part.input)
}

function given(part: Extract<ToolPart, { state: 'approval-responded' }>): Answer {
  if (part.approval.approved) return { approved: true }
  return part.approval.reason ? { approved: false, reason: part.approval.reason } : { approved: false }
}

/** Clients whose parts have no room for a descriptor carry it in the message's metadata. */
function kept(metadata: unknown, callId: string): unknown {
  const signoff = isRecord(metadata) ? metadata.signoff : undefined
  return isRecord(signoff) ? signoff[callId] : undefined
}
