import { createContext, use } from 'react'

export interface Failure {
  text: string | null
  /** CopilotKit sends nothing more on this page: it holds open interrupts and shows no card. */
  blocked: boolean
}

export const FailureContext = createContext<Failure>({ text: null, blocked: false })

export function useFailure(): Failure {
  return use(FailureContext)
}
