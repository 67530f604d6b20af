import { useEffect, useState } from 'react'
import { stopRun } from './server'

/** How long a cancelled run may take to say how it ended, in milliseconds. */
const PATIENCE = 5_000

/**
 * Cancels the run at the server and lets its stream tell how it ended. Closing the stream at once
 * would leave cards waiting for outcomes that never come; where it stays silent, `giveUp` is called.
 */
export function useStop(thread: string, busy: boolean, giveUp: () => void) {
  const [stopping, setStopping] = useState(false)

  useEffect(() => {
    if (!busy) setStopping(false)
  }, [busy])

  useEffect(() => {
    if (!stopping) return
    const timer = window.setTimeout(giveUp, PATIENCE)
    return () => window.clearTimeout(timer)
    // The clock runs from the click; a new `giveUp` must not start it anew.
  }, [stopping])

  function stop() {
    setStopping(true)
    stopRun(thread).catch(giveUp)
  }
  return { stop, stopping }
}
