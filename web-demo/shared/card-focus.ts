import { useEffect, useRef } from 'react'

/**
 * Moves the focus to what needs an answer: to a new card's heading, and after an answer to the
 * next open card. The chat input is locked meanwhile, so nobody is typing there.
 */
export function useCardFocus(open: string[]): void {
  const before = useRef<string[]>([])
  const key = JSON.stringify(open)
  useEffect(() => {
    const ids = JSON.parse(key) as string[]
    const known = before.current
    before.current = ids
    const isNew = ids.some((id) => !known.includes(id))
    if (ids[0] !== undefined && (isNew || ids.length < known.length)) focusCard(ids[0])
  }, [key])
}

function focusCard(id: string): void {
  const card = document.querySelector(`[data-testid="approval-card"][data-call-id="${CSS.escape(id)}"]`)
  const heading = card?.querySelector<HTMLElement>('[data-card-heading]')
  heading?.focus({ preventScroll: true })
  card?.scrollIntoView({ block: 'nearest' })
  // Of a card that is higher than the screen, the beginning.
  heading?.scrollIntoView({ block: 'nearest' })
}
