import { getToolName } from 'ai'
import { outputText, readDenial, readFailure, type Outcome } from '@shared/outcome'
import { RunningCall, SettledCall } from '@shared/settled-call'
import { inputsOf, type ToolPart } from './blocks'

/** A call that asks nobody: under way, or decided and over. */
export function ToolCall({ part }: { part: ToolPart }) {
  const outcome = outcomeOf(part)
  const name = getToolName(part)
  if (outcome === null) {
    return <RunningCall id={part.toolCallId} name={name} note="In progress" />
  }
  return (
    <SettledCall
      id={part.toolCallId}
      name={name}
      inputs={inputsOf(part)}
      outcome={outcome}
      approved={part.approval?.approved === true}
    />
  )
}

function outcomeOf(part: ToolPart): Outcome | null {
  switch (part.state) {
    case 'output-available':
      return { kind: 'ran', result: outputText(part.output) }
    case 'output-error':
      return readFailure(part.errorText)
    case 'output-denied':
      return readDenial(part.approval.reason)
    default:
      return null
  }
}
