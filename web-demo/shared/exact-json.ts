/**
 * JSON as it was written, for a person to read before they approve it.
 *
 * `JSON.parse` alone rounds numbers beyond 2^53 and would show another amount or id than the one
 * that runs. Numbers keep their source text here; everything else is plain.
 */
export type ExactJson =
  | { kind: 'object'; entries: [key: string, value: ExactJson][] }
  | { kind: 'array'; items: ExactJson[] }
  | { kind: 'string'; text: string }
  | { kind: 'literal'; text: string }

class SourceNumber {
  constructor(readonly source: string) {}
}

type Reviver = (key: string, value: unknown, context?: { source?: string }) => unknown

const keepNumbers: Reviver = (_key, value, context) =>
  typeof value === 'number' ? new SourceNumber(context?.source ?? withoutSource(value)) : value

/** Browsers from before 2025 do not tell a number's source: what may be rounded is marked. */
export function withoutSource(value: number): string {
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? `≈ ${value}` : String(value)
}

/** Reads JSON text. Throws `SyntaxError` where it is not JSON. */
export function parseExact(text: string): ExactJson {
  return toExact(JSON.parse(text, keepNumbers as (key: string, value: unknown) => unknown))
}

export function toExact(value: unknown): ExactJson {
  if (value instanceof SourceNumber) return { kind: 'literal', text: value.source }
  if (typeof value === 'string') return { kind: 'string', text: value }
  if (Array.isArray(value)) return { kind: 'array', items: value.map(toExact) }
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).map(([key, item]): [string, ExactJson] => [key, toExact(item)])
    return { kind: 'object', entries }
  }
  return { kind: 'literal', text: String(value) }
}

/** The text of a JSON document again: four spaces a level, numbers as they were written. */
export function printExact(value: ExactJson, indent = ''): string {
  const inner = `${indent}    `
  switch (value.kind) {
    case 'string':
      return JSON.stringify(value.text)
    case 'literal':
      return value.text
    case 'array':
      return block('[', ']', value.items.map((item) => printExact(item, inner)), indent)
    case 'object': {
      const lines = value.entries.map(([key, item]) => `${JSON.stringify(key)}: ${printExact(item, inner)}`)
      return block('{', '}', lines, indent)
    }
  }
}

function block(open: string, close: string, lines: string[], indent: string): string {
  if (lines.length === 0) return open + close
  return `${open}\n${lines.map((line) => `${indent}    ${line}`).join(',\n')}\n${indent}${close}`
}
