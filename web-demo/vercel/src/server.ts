import type { UIMessage } from 'ai'
import { isRecord } from '@shared/action'
import { failureSentence } from '@shared/wire'

export const CHAT = '/vercel/chat'

const UNREACHABLE = 'The server could not be reached.'
const ODD_ANSWER = 'The server’s answer could not be read.'

/** The stored messages of a thread, as `useChat` holds them. Throws an `Error` fit to be shown. */
export async function loadMessages(thread: string): Promise<UIMessage[]> {
  const response = await request(`${CHAT}/${encodeURIComponent(thread)}`)
  const body: unknown = await response.json().catch(() => null)
  if (!isRecord(body) || !Array.isArray(body.messages)) throw new Error(ODD_ANSWER)
  return body.messages as UIMessage[]
}

/** Asks the server to cancel the running segment; whether there was one to cancel. */
export async function stopRun(thread: string): Promise<boolean> {
  const response = await request(`${CHAT}/${encodeURIComponent(thread)}/stop`, { method: 'POST' })
  const body: unknown = await response.json().catch(() => null)
  return isRecord(body) && body.stopped === true
}

/**
 * A sentence for what `useChat` reports: the body of a refused request, an `error` chunk (whose
 * text the server wrote for people), a lost connection, or a stream it could not read.
 */
export function chatFailure(error: Error): string {
  switch (error.name) {
    case 'AI_APICallError':
      return failureSentence(error.message, ODD_ANSWER)
    case 'TypeError':
      return UNREACHABLE
    case 'Error':
      return error.message
    default:
      return ODD_ANSWER
  }
}

async function request(address: string, init?: RequestInit): Promise<Response> {
  const response = await fetch(address, init).catch(() => {
    throw new Error(UNREACHABLE)
  })
  if (!response.ok) throw new Error(failureSentence(await response.text(), ODD_ANSWER))
  return response
}
