import { useEffect, useState } from 'react'

/** Until when an answer is taken. The server's clock decides; this one only tells. */
export function Expiry({ at }: { at: Date }) {
  const left = useSecondsUntil(at)
  return (
    <p className="so-expiry" data-over={left <= 0 || undefined}>
      {left <= 0 ? 'The time to answer has passed: ' : `Answer within ${duration(left)}, until `}
      <time dateTime={at.toISOString()}>{clock(at)}</time>.
    </p>
  )
}

function useSecondsUntil(at: Date): number {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    const timer = window.setInterval(() => setNow(Date.now()), 1000)
    return () => window.clearInterval(timer)
  }, [])
  return Math.ceil((at.getTime() - now) / 1000)
}

/** Seconds in the largest unit that says enough. */
export function duration(seconds: number): string {
  if (seconds < 120) return plural(seconds, 'second')
  if (seconds < 90 * 60) return plural(Math.floor(seconds / 60), 'minute')
  if (seconds < 36 * 3600) return plural(Math.floor(seconds / 3600), 'hour')
  return plural(Math.floor(seconds / 86400), 'day')
}

function plural(count: number, unit: string): string {
  return `${count} ${unit}${count === 1 ? '' : 's'}`
}

function clock(at: Date): string {
  const today = at.toDateString() === new Date().toDateString()
  const options: Intl.DateTimeFormatOptions = { hour: '2-digit', minute: '2-digit', second: '2-digit' }
  return today
    ? at.toLocaleTimeString('en-GB', options)
    : at.toLocaleString('en-GB', { ...options, day: 'numeric', month: 'short', year: 'numeric' })
}
