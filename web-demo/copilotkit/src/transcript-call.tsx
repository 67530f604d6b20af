import { useAgent, UseAgentUpdate } from '@copilotkit/react-core/v2'
import type { Message } from '@ag-ui/client'
import { readInputs, type Answer } from '@shared/action'
import { readOutcome } from '@shared/outcome'
import { RunningCall, SettledCall } from '@shared/settled-call'
import { AGENT } from './agent'
import { useCurrentSession } from './session'

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
  const { carriedOut } = useCurrentSession()
  if (result === undefined) {
    return <RunningCall id={toolCallId} name={name} note={progress(carriedOut.get(toolCallId))} />
  }
  return (
    <SettledCall
      id={toolCallId}
      name={name}
      inputs={readInputs(argumentsOf(agent.messages, toolCallId), parameters)}
      outcome={readOutcome(result, hasError(agent.messages, toolCallId))}
      approved={false}
    />
  )
}

function progress(answer: Answer | undefined): string {
  if (!answer) return 'In progress'
  return answer.approved ? 'Approved, in progress' : 'Rejected'
}

function argumentsOf(messages: readonly Message[], callId: string): string | undefined {
  for (const message of messages) {
    if (message.role !== 'assistant') continue
    const call = message.toolCalls?.find((one) => one.id === callId)
    if (call) return call.function.arguments
  }
  return undefined
}

function hasError(messages: readonly Message[], callId: string): boolean {
  return messages.some((message) => message.role === 'tool' && message.toolCallId === callId && !!message.error)
}
