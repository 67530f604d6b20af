import { useEffect, useRef } from 'react'

/** How far from the end a reader still counts as reading the end, in pixels. */
const NEAR = 160

/** Keeps the end of the transcript in view while it grows, unless the reader scrolled away. */
export function useFollow(content: unknown, busy: boolean): void {
  const follows = useRef(true)

  useEffect(() => {
    const look = () => {
      const page = document.documentElement
      follows.current = page.scrollHeight - page.clientHeight - window.scrollY < NEAR
    }
    window.addEventListener('scroll', look, { passive: true })
    return () => window.removeEventListener('scroll', look)
  }, [])

  useEffect(() => {
    if (busy && follows.current) window.scrollTo({ top: document.documentElement.scrollHeight })
  }, [content, busy])
}
