import type { ExactJson } from './exact-json'

/** Values longer than this come last: one of them would fill the line. In characters. */
const LONG = 60

/** A call's plain inputs on one line, to recognise it by; null where it has none. */
export function summaryOf(inputs: ExactJson): string | null {
  if (inputs.kind !== 'object') return null
  const plain = inputs.entries.flatMap(([key, value]) =>
    (value.kind === 'string' && value.text !== '') || value.kind === 'literal' ? [`${key}: ${value.text}`] : [],
  )
  plain.sort((one, other) => Number(one.length > LONG) - Number(other.length > LONG))
  return plain.length === 0 ? null : plain.join(', ').replaceAll(/\s+/g, ' ')
}
