import { useEffect, useId, useRef, type KeyboardEvent } from 'react'

interface ComposerProps {
  draft: string
  busy: boolean
  stopping: boolean
  /** Why nothing can be written now. */
  lock: string | null
  onDraft: (text: string) => void
  onSend: (text: string) => void
  onStop: () => void
}

export function Composer({ draft, busy, stopping, lock, onDraft, onSend, onStop }: ComposerProps) {
  const id = useId()
  const field = useRef<HTMLTextAreaElement>(null)
  const locked = lock !== null
  const unlocked = !locked && !busy

  useEffect(() => {
    // A disabled field loses the focus; whoever typed or answered goes on here.
    if (unlocked && document.activeElement === document.body) field.current?.focus({ preventScroll: true })
  }, [unlocked])

  function send() {
    if (unlocked && draft.trim() !== '') onSend(draft)
  }

  function onKeyDown(event: KeyboardEvent) {
    if (event.key === 'Enter' && !event.shiftKey && !event.nativeEvent.isComposing) {
      event.preventDefault()
      send()
    }
  }

  return (
    <form
      className="so-composer"
      data-locked={locked || undefined}
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
    >
      {locked && (
        <p className="so-lock" id={`${id}-lock`} data-testid="lock">
          {lock}
        </p>
      )}
      <div className="so-composer-row">
        <label className="so-sr-only" htmlFor={id}>
          Message
        </label>
        <textarea
          ref={field}
          id={id}
          rows={1}
          value={draft}
          disabled={locked}
          aria-describedby={locked ? `${id}-lock` : undefined}
          placeholder={locked ? 'Locked' : 'Write to the agent'}
          data-testid="chat-input"
          onChange={(event) => onDraft(event.target.value)}
          onKeyDown={onKeyDown}
        />
        {busy ? (
          <button type="button" className="so-button" data-testid="stop" disabled={stopping} onClick={onStop}>
            {stopping ? 'Stopping' : 'Stop'}
          </button>
        ) : (
          <button
            type="submit"
            className="so-button so-button-strong"
            data-testid="send"
            disabled={locked || draft.trim() === ''}
          >
            Send
          </button>
        )}
      </div>
    </form>
  )
}
