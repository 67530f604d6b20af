import type { AbstractAgent, Interrupt, Message } from '@ag-ui/client'
import { isRecord, readAction, readInputs, type Action } from '@shared/action'
import type { NamedCall } from '@shared/notices'

/** What is asked by an interrupt. */
export function toAction({ id, metadata, message }: Interrupt): Action {
  return readPending(metadata, id, message)
}

/** The pending action of a call, as it came over the wire. */
export function readPending(wire: unknown, id: string, reason?: string): Action {
  const name = isRecord(wire) && typeof wire.name === 'string' ? wire.name : 'Tool call'
  return readAction(wire, { id, name, inputs: {}, reason })
}

/** A published call: its name, and its inputs as JSON text. */
export function callOf(messages: readonly Message[], callId: string) {
  for (const message of messages) {
    if (message.role !== 'assistant') continue
    const call = message.toolCalls?.find((one) => one.id === callId)
    if (call) return call.function
  }
  return undefined
}

/** The call of this id, be it open or in the transcript. */
export function toNamedCall(agent: AbstractAgent, callId: string): NamedCall | null {
  const interrupt = agent.pendingInterrupts.find((one) => one.id === callId)
  if (interrupt) return toAction(interrupt)
  const call = callOf(agent.messages, callId)
  return call ? { name: call.name, inputs: readInputs(call.arguments, {}) } : null
}
