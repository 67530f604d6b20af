/**
 * Text that cannot hide anything.
 *
 * Control, zero-width and direction-changing characters, blanks other than the space, and private
 * or unassigned code points can make a dangerous input look harmless. They are cut out here, to be
 * shown by name in their place. Nothing is dropped and nothing is shortened.
 */
export type Segment = { kind: 'text'; text: string } | { kind: 'hidden'; name: string; code: string }

const HIDDEN =
  /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}\p{Cn}\p{Default_Ignorable_Code_Point}]|(?! )\p{Zs}/gu

/** Line feeds and tabs are ordinary in inputs; they are kept, and marked by the renderer. */
const ORDINARY = new Set(['\n', '\t'])

const NAMES: Readonly<Record<string, string>> = {
  '\u0000': 'null',
  '\u0007': 'bell',
  '\u0008': 'backspace',
  '\r': 'carriage return',
  '\u001B': 'escape',
  '\u00A0': 'no-break space',
  '\u00AD': 'soft hyphen',
  '\u061C': 'arabic letter mark',
  '\u200B': 'zero-width space',
  '\u200C': 'zero-width non-joiner',
  '\u200D': 'zero-width joiner',
  '\u200E': 'left-to-right mark',
  '\u200F': 'right-to-left mark',
  '\u2028': 'line separator',
  '\u2029': 'paragraph separator',
  '\u202A': 'left-to-right embedding',
  '\u202B': 'right-to-left embedding',
  '\u202C': 'end of direction change',
  '\u202D': 'left-to-right override',
  '\u202E': 'right-to-left override',
  '\u2060': 'word joiner',
  '\u2066': 'left-to-right isolate',
  '\u2067': 'right-to-left isolate',
  '\u2068': 'first strong isolate',
  '\u2069': 'end of isolate',
  '\uFEFF': 'zero-width no-break space',
}

export function segments(text: string): Segment[] {
  const found: Segment[] = []
  let end = 0
  for (const match of text.matchAll(HIDDEN)) {
    const character = match[0]
    if (ORDINARY.has(character)) continue
    if (match.index > end) found.push({ kind: 'text', text: text.slice(end, match.index) })
    found.push({ kind: 'hidden', name: NAMES[character] ?? 'invisible character', code: codeOf(character) })
    end = match.index + character.length
  }
  if (end < text.length) found.push({ kind: 'text', text: text.slice(end) })
  return found
}

/** The same JSON document with every hidden character written as a JSON escape: still exact, and
 * fit to be copied. Outside strings JSON has only line feeds and spaces, so none is changed there. */
export function escapeJsonText(json: string): string {
  return json.replace(HIDDEN, (character) =>
    ORDINARY.has(character)
      ? character
      : Array.from({ length: character.length }, (_, at) => unit(character.charCodeAt(at))).join(''),
  )
}

/** What a person should be told about a text before they trust how it looks. */
export function warnings(text: string): string[] {
  const told: string[] = []
  if (segments(text).some((segment) => segment.kind === 'hidden')) {
    told.push('Some characters here are invisible or change the reading direction. They are written out.')
  }
  if (text.split(/[^\p{L}\p{M}]+/u).some(mixesAlphabets)) {
    told.push('A word here mixes letters of several alphabets that can look alike.')
  }
  return told
}

function mixesAlphabets(word: string): boolean {
  const alphabets = [/\p{Script=Latin}/u, /\p{Script=Cyrillic}/u, /\p{Script=Greek}/u]
  return alphabets.filter((alphabet) => alphabet.test(word)).length > 1
}

function codeOf(character: string): string {
  const point = character.codePointAt(0) ?? 0
  return `U+${point.toString(16).toUpperCase().padStart(4, '0')}`
}

function unit(code: number): string {
  return `\\u${code.toString(16).padStart(4, '0')}`
}
