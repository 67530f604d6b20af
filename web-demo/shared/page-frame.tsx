import type { ReactNode } from 'react'
import { Escaped } from './escaped'
import { newThreadId, openThread, threadAddress } from './thread'

interface PageFrameProps {
  /** Which client this page is built with. */
  client: string
  thread: string
  other: { name: string; page: string }
  children: ReactNode
}

export function PageFrame({ client, thread, other, children }: PageFrameProps) {
  return (
    <div className="so-page">
      <header className="so-header">
        <h1 className="so-sr-only">Chat with an agent that asks before it acts</h1>
        <a className="so-brand" href="/">
          <svg viewBox="0 0 20 20" aria-hidden="true">
            <path d="M2.5 13.6c2.8-6.1 5.7-9.5 7.1-8.7 1.7 1-1.5 8.2-.2 8.8 1.2.6 2-2.5 3.4-2.2 1 .2.7 1.5 1.7 1.6.8.1 1.6-.6 3-1.4" />
            <path d="M3 17h14" />
          </svg>
          signoff
        </a>
        <span className="so-client">{client}</span>
        <span className="so-thread" title="The thread this page shows">
          <span className="so-thread-label">Thread </span>
          <code data-testid="thread-id">
            <Escaped text={thread} />
          </code>
        </span>
        <nav className="so-nav" aria-label="Thread">
          <a href={threadAddress(other.page, thread)} data-testid="other-page">
            Open in {other.name}
          </a>
          <button type="button" data-testid="new-thread" onClick={() => openThread(newThreadId())}>
            New thread
          </button>
        </nav>
      </header>
      {children}
    </div>
  )
}
