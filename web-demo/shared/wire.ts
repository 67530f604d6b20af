import { isRecord } from './action'

/**
 * A sentence for a failed request.
 *
 * Servers answer with `application/problem+json`; its `title` and `detail` are written for people.
 * Anything else (a proxy's page, a lost connection) becomes the fallback.
 */
export function failureSentence(body: string, fallback: string): string {
  try {
    const problem: unknown = JSON.parse(body)
    if (!isRecord(problem)) return fallback
    const words = [problem.title, problem.detail].filter((part) => typeof part === 'string' && part !== '')
    return words.length > 0 ? words.join(' ') : fallback
  } catch {
    return fallback
  }
}
