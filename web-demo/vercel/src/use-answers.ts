import { useState } from 'react'
import type { Answer } from '@shared/action'
import type { OwnAnswers } from './blocks'

const NO_ANSWERS: ReadonlyMap<string, Answer> = new Map()
const NO_REFUSALS: ReadonlyMap<string, string> = new Map()

/**
 * What this page answered, until the parts say the same.
 *
 * The SDK takes an answer over a moment after the click; `clicked` bridges that moment, so that a
 * second click finds no button. `settle` forgets it all: from then on the parts tell the truth,
 * and a card that is open again is open.
 */
export function useAnswers() {
  const [clicked, setClicked] = useState(NO_ANSWERS)
  const [tried, setTried] = useState<ReadonlySet<string>>(new Set())
  const [refusals, setRefusals] = useState(NO_REFUSALS)
  const own: OwnAnswers = { clicked, refusals }

  return {
    own,
    record(callId: string, answer: Answer) {
      setClicked((before) => new Map(before).set(callId, answer))
      setTried((before) => new Set(before).add(callId))
      setRefusals(NO_REFUSALS)
    },
    settle: () => setClicked(NO_ANSWERS),
    refuse: (message: string) => setRefusals(new Map(Array.from(tried, (callId) => [callId, message]))),
    forgetRefusals: () => setRefusals(NO_REFUSALS),
  }
}
