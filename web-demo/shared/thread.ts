/** Which thread the page shows: `?thread=…`, made up and written into the address when missing. */
export function currentThread(): string {
  const address = new URL(window.location.href)
  const known = address.searchParams.get('thread')
  if (known) return known
  const created = newThreadId()
  address.searchParams.set('thread', created)
  window.history.replaceState(null, '', address)
  return created
}

export function newThreadId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(8))
  return `t-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`
}

/** The address of a thread on a page, such as `/vercel/`. */
export function threadAddress(page: string, thread: string): string {
  return `${page}?thread=${encodeURIComponent(thread)}`
}

/**
 * Another thread is another page load. Clients keep a thread's open questions in memory, and an
 * answer given after an in-page switch can reach the wrong thread.
 */
export function openThread(thread: string): void {
  const address = new URL(window.location.href)
  address.searchParams.set('thread', thread)
  window.location.assign(address)
}
