import { createContext, use, useEffect, useState } from 'react'
import type { AbstractAgent } from '@ag-ui/client'
import { loadRecord, NO_RECORD, type ThreadRecord } from '@shared/thread-record'

/** What the server holds of the thread, read when the page opens and after every run: AG-UI's
 * messages tell of no approval, no earlier answer and no failed run. */
export function useThreadRecord(agent: AbstractAgent, thread: string): ThreadRecord {
  const [record, setRecord] = useState(NO_RECORD)

  useEffect(() => {
    let newest = 0
    let running = false
    async function load() {
      const mine = ++newest
      const loaded = await loadRecord(thread)
      if (loaded && mine === newest) setRecord(running ? { ...loaded, status: 'running' } : loaded)
    }
    const { unsubscribe } = agent.subscribe({
      onRunStartedEvent() {
        running = true
        setRecord((before) => ({ ...before, status: 'running' }))
      },
      onRunFinalized() {
        running = false
        void load()
      },
    })
    void load()
    return () => {
      newest += 1
      unsubscribe()
    }
  }, [agent, thread])

  return record
}

export const RecordContext = createContext(NO_RECORD)

export function useRecord(): ThreadRecord {
  return use(RecordContext)
}
