import { Escaped } from './escaped'

/** What the server would not take, and why: `signoff.refused`, `data-signoff-refused`. */
export interface Refusal {
  code: string
  message: string
}

export function readRefusal(value: unknown): Refusal {
  const source = typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  return {
    code: typeof source.code === 'string' ? source.code : 'refused',
    message: typeof source.message === 'string' && source.message ? source.message : 'The server did not take this.',
  }
}

export function RefusalNotice({ refusal }: { refusal: Refusal | null }) {
  return (
    <div role="alert" className="so-alert-place">
      {refusal && (
        <p className="so-refusal" data-testid="refusal" data-code={refusal.code}>
          <Escaped text={refusal.message} />
        </p>
      )}
    </div>
  )
}

export function Problem({ text, onRetry }: { text: string; onRetry: () => void }) {
  return (
    <div role="alert" className="so-problem" data-testid="problem">
      <p>
        <Escaped text={text} />
      </p>
      <button type="button" className="so-button" data-testid="retry" onClick={onRetry}>
        Retry
      </button>
    </div>
  )
}

/** Why nothing can be written now. */
export function lockSentence(open: number): string {
  return open === 1
    ? 'Answer the request above to go on writing.'
    : `Answer the ${open} requests above to go on writing.`
}
