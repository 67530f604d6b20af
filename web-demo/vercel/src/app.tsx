import { useEffect, useState } from 'react'
import type { UIMessage } from 'ai'
import { PageFrame } from '@shared/page-frame'
import { Problem, type Refusal } from '@shared/notices'
import { loadRecord } from '@shared/thread-record'
import { Chat } from './chat'
import { loadMessages } from './server'

type Loaded =
  | { attempt: number; messages: UIMessage[]; unfinished: boolean }
  | { attempt: number; failure: string }

/** A message that may not have reached the server. */
export interface Unsent {
  id: string
  text: string
}

/** What outlives a reload of the thread. */
export interface Kept {
  unsent: Unsent | null
  refusal: Refusal | null
}

const NOTHING_KEPT: Kept = { unsent: null, refusal: null }

/** Loads the thread, and loads it anew whenever the chat lost track of what the server holds. */
export function App({ thread }: { thread: string }) {
  const [attempt, setAttempt] = useState(0)
  const [kept, setKept] = useState(NOTHING_KEPT)
  const loaded = useThread(thread, attempt)

  function reload(left: Partial<Kept>) {
    setKept({ unsent: left.unsent ?? kept.unsent, refusal: left.refusal ?? null })
    setAttempt((current) => current + 1)
  }

  return (
    <PageFrame client="Vercel AI SDK" thread={thread} other={{ name: 'CopilotKit', page: '/copilotkit/' }}>
      {loaded === null && (
        <p className="so-loading" role="status">
          Loading the thread…
        </p>
      )}
      {loaded !== null && 'failure' in loaded && (
        <main className="so-main">
          <Problem text={loaded.failure} onRetry={() => reload({})} />
        </main>
      )}
      {loaded !== null && 'messages' in loaded && (
        <Chat
          key={loaded.attempt}
          thread={thread}
          messages={loaded.messages}
          draft={draftAfter(kept.unsent, loaded.messages)}
          refusal={kept.refusal}
          unfinished={loaded.unfinished}
          onReload={reload}
        />
      )}
    </PageFrame>
  )
}

function useThread(thread: string, attempt: number): Loaded | null {
  const [loaded, setLoaded] = useState<Loaded | null>(null)
  useEffect(() => {
    let current = true
    // The messages alone do not say that their run failed.
    Promise.all([loadMessages(thread), loadRecord(thread)]).then(
      ([messages, record]) => current && setLoaded({ attempt, messages, unfinished: record?.status === 'failed' }),
      (error: Error) => current && setLoaded({ attempt, failure: error.message }),
    )
    return () => {
      current = false
    }
  }, [thread, attempt])
  return loaded
}

/** What was typed comes back into the input where the server does not have it. */
function draftAfter(unsent: Unsent | null, messages: UIMessage[]): string {
  return unsent && !messages.some((message) => message.id === unsent.id) ? unsent.text : ''
}
