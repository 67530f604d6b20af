import { useEffect, useRef } from 'react'

/** What a reader does to look elsewhere. */
const OWN_ACTS = ['wheel', 'touchstart', 'pointerdown', 'keydown'] as const

/**
 * Moves the focus to what needs an answer: to a new card's heading, and after an answer to the
 * next open card. The chat input is locked meanwhile, so nobody is typing there.
 *
 * `all`: how many cards there are; answered ones can come later and push the others out of view.
 */
export function useCardFocus(open: string[], all: number): void {
  const before = useRef<string[]>([])
  const key = JSON.stringify(open)
  useEffect(() => {
    const ids = JSON.parse(key) as string[]
    const known = before.current
    before.current = ids
    const isNew = ids.some((id) => !known.includes(id))
    return ids[0] !== undefined && (isNew || ids.length < known.length) ? focusCard(ids[0]) : undefined
  }, [key])

  useEffect(() => {
    const heading = document.activeElement
    if (heading?.matches('[data-card-heading]')) reveal(heading)
  }, [all])
}

function focusCard(id: string): (() => void) | undefined {
  const card = document.querySelector(`[data-testid="approval-card"][data-call-id="${CSS.escape(id)}"]`)
  const heading = card?.querySelector<HTMLElement>('[data-card-heading]')
  if (!heading) return undefined
  heading.focus({ preventScroll: true })
  reveal(heading)
  return holdInView(heading)
}

function reveal(heading: Element): void {
  heading.closest('[data-testid="approval-card"]')?.scrollIntoView({ block: 'nearest' })
  // Of a card that is higher than the screen, the beginning.
  heading.scrollIntoView({ block: 'nearest' })
}

/** A chat that loads its thread scrolls by itself, and away from the card. It is brought back, until
 * the reader does something. */
function holdInView(heading: HTMLElement): () => void {
  const hold = new AbortController()
  const options = { capture: true, passive: true, signal: hold.signal }
  const look = () => {
    const { top, bottom } = heading.getBoundingClientRect()
    const isSeen = top >= 0 && bottom <= window.innerHeight
    if (document.activeElement === heading && !isSeen) reveal(heading)
  }
  document.addEventListener('scrollend', look, options)
  for (const act of OWN_ACTS) document.addEventListener(act, () => hold.abort(), options)
  return () => hold.abort()
}
