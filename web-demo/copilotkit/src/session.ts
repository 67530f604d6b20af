import { createContext, use, useEffect, useRef, useState } from 'react'
import type { AbstractAgent, Interrupt } from '@ag-ui/client'
import type { Answer } from '@shared/action'
import { readRefusal, type Refusal } from '@shared/notices'

/** The name of the event that carries a refusal, and the truth after it. */
const REFUSED = 'signoff.refused'
/** The name of the event that says why a run failed after answers. */
const FAILED = 'signoff.failed'

/** Where the pause of a run stands on this page. */
export interface Session extends Pause {
  /** Takes an answer down. False when the call is answered already. */
  record: (callId: string, answer: Answer) => boolean
}

interface Pause {
  /** The ids of all calls of the pause. */
  asked: string[]
  answers: ReadonlyMap<string, Answer>
  /** The answers of the pause before, while the run they set going is under way. */
  carriedOut: ReadonlyMap<string, Answer>
  /** Every call that was approved on this page, also of earlier pauses. */
  approved: ReadonlySet<string>
  refusal: Refusal | null
  /** Why the server did not take an answer, by callId. */
  refusals: ReadonlyMap<string, string>
}

const NO_ANSWERS: ReadonlyMap<string, Answer> = new Map()
const NOTHING: Pause = {
  asked: [],
  answers: NO_ANSWERS,
  carriedOut: NO_ANSWERS,
  approved: new Set(),
  refusal: null,
  refusals: new Map(),
}

/**
 * Follows the agent's runs. `useInterrupt` keeps no state of single cards, and a call that is asked
 * again comes with the same ids: so every run starts with a clean slate here.
 */
export function useSession(agent: AbstractAgent, onRunStarted: () => void): Session {
  const [pause, setPause] = useState(NOTHING)
  const tried = useRef(new Set<string>())
  const started = useRef(onRunStarted)
  started.current = onRunStarted

  useEffect(() => {
    let interrupts: Interrupt[] = []
    const { unsubscribe } = agent.subscribe({
      onRunStartedEvent() {
        interrupts = []
        setPause((before) => ({ ...NOTHING, carriedOut: before.answers, approved: withApproved(before) }))
        started.current()
      },
      onCustomEvent({ event }) {
        if (event.name !== REFUSED && event.name !== FAILED) return
        const refusal = readRefusal(event.value)
        if (event.name === FAILED) return setPause((before) => ({ ...before, refusal }))
        const refusals = new Map(Array.from(tried.current, (callId) => [callId, refusal.message]))
        setPause((before) => ({ ...before, refusal, refusals }))
      },
      onRunFinishedEvent(finished) {
        interrupts = finished.outcome === 'interrupt' ? finished.interrupts : []
      },
      onRunFinalized() {
        tried.current.clear()
        const asked = interrupts.map((one) => one.id)
        setPause((before) => ({ ...before, asked, answers: NO_ANSWERS, carriedOut: NO_ANSWERS }))
      },
      onRunFailed() {
        tried.current.clear()
        setPause((before) => ({ ...NOTHING, approved: before.approved }))
      },
    })
    return unsubscribe
  }, [agent])

  function record(callId: string, answer: Answer): boolean {
    // The state is only seen after a render, and two clicks can come before it.
    if (tried.current.has(callId)) return false
    tried.current.add(callId)
    setPause((before) => ({
      ...before,
      refusal: null,
      refusals: NOTHING.refusals,
      answers: new Map(before.answers).set(callId, answer),
    }))
    return true
  }

  return { ...pause, record }
}

function withApproved({ approved, answers }: Pause): ReadonlySet<string> {
  const ids = Array.from(answers).flatMap(([callId, answer]) => (answer.approved ? [callId] : []))
  return ids.length > 0 ? new Set([...approved, ...ids]) : approved
}

const SessionContext = createContext<Session>({ ...NOTHING, record: () => false })

export const SessionProvider = SessionContext

export function useCurrentSession(): Session {
  return use(SessionContext)
}
