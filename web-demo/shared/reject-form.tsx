import { useEffect, useId, useRef, useState, type KeyboardEvent } from 'react'

interface RejectFormProps {
  name: string
  onReject: (reason: string) => void
  onBack: () => void
}

/** Asks why, without insisting. Enter rejects, Shift and Enter start a new line, Escape goes back. */
export function RejectForm({ name, onReject, onBack }: RejectFormProps) {
  const id = useId()
  const form = useRef<HTMLFormElement>(null)
  const field = useRef<HTMLTextAreaElement>(null)
  const sent = useRef(false)
  const [reason, setReason] = useState('')

  useEffect(() => {
    field.current?.focus({ preventScroll: true })
    // The whole form: the field alone could be in view without its buttons.
    form.current?.scrollIntoView({ block: 'nearest' })
  }, [])

  function reject() {
    if (sent.current) return
    sent.current = true
    onReject(reason.trim() === '' ? '' : reason)
  }

  function leaveOnEscape(event: KeyboardEvent) {
    if (event.key !== 'Escape') return
    event.preventDefault()
    onBack()
  }

  function rejectOnEnter(event: KeyboardEvent) {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
    event.preventDefault()
    reject()
  }

  return (
    <form
      ref={form}
      className="so-reject-form"
      aria-label={`Reject ${name}`}
      onKeyDown={leaveOnEscape}
      onSubmit={(event) => {
        event.preventDefault()
        reject()
      }}
    >
      <label htmlFor={id}>
        Reason or instruction for the agent <span className="so-optional">optional</span>
      </label>
      <textarea
        ref={field}
        id={id}
        rows={2}
        value={reason}
        data-testid="reject-reason"
        placeholder="Not this one: it is still needed."
        onChange={(event) => setReason(event.target.value)}
        onKeyDown={rejectOnEnter}
      />
      <div className="so-actions">
        <button type="button" className="so-button" data-testid="cancel-reject" onClick={onBack}>
          Back
        </button>
        <button type="submit" className="so-button so-button-danger" data-testid="confirm-reject">
          Reject<span className="so-sr-only"> {name}</span>
        </button>
      </div>
    </form>
  )
}
