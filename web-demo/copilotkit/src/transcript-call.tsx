import { useAgent, UseAgentUpdate } from '@copilotkit/react-core/v2'
import type { Message } from '@ag-ui/client'
import { readInputs, type Answer } from '@shared/action'
import { readOutcome } from '@shared/outcome'
import { RunningCall, SettledCall } from '@shared/settled-call'
import { AGENT } from './agent'
import { callOf } from './calls'
import { useCurrentSession } from './session'
import { useRecord } from './thread-record'

interface TranscriptCallProps {
  name: string
  toolCallId: string
  parameters: unknown
  result: string | undefined
}

/** A published call: approved and under way, or over. The renderer's own properties hold parsed
 * arguments (large numbers are rounded) and no error, so both are read from the messages. */
export function TranscriptCall({ name, toolCallId, parameters, result }: TranscriptCallProps) {
  const { agent } = useAgent({ agentId: AGENT, updates: [UseAgentUpdate.OnMessagesChanged] })
  const { carriedOut, approved } = useCurrentSession()
  const record = useRecord()
  if (result === undefined) {
    return <RunningCall id={toolCallId} name={name} note={progress(carriedOut.get(toolCallId))} />
  }
  return (
    <SettledCall
      id={toolCallId}
      name={name}
      inputs={readInputs(callOf(agent.messages, toolCallId)?.arguments, parameters)}
      outcome={readOutcome(result, hasError(agent.messages, toolCallId))}
      approved={approved.has(toolCallId) || record.approved.has(toolCallId)}
    />
  )
}

function progress(answer: Answer | undefined): string {
  if (!answer) return 'In progress'
  return answer.approved ? 'Approved, in progress' : 'Rejected'
}

function hasError(messages: readonly Message[], callId: string): boolean {
  return messages.some((message) => message.role === 'tool' && message.toolCallId === callId && !!message.error)
}
