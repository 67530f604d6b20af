import { describe, expect, test } from 'vitest'
import { escapeJsonText, segments, warnings } from '@shared/visible-text'

/** The text as a reader sees it. */
function seen(text: string): string {
  return segments(text)
    .map((segment) => (segment.kind === 'text' ? segment.text : `[${segment.code}]`))
    .join('')
}

describe('text that cannot hide anything', () => {
  test.each([
    ['a direction override', 'reports/\u202egnp.exe', 'reports/[U+202E]gnp.exe'],
    ['a zero-width space', 'rm\u200b -rf', 'rm[U+200B] -rf'],
    ['a byte order mark', '\ufeffname', '[U+FEFF]name'],
    ['a carriage return', 'safe\rrm', 'safe[U+000D]rm'],
    ['an escape sequence', '\u001b[2K', '[U+001B][2K'],
    ['a blank that is no space', 'a\u00a0b\u3000c', 'a[U+00A0]b[U+3000]c'],
    ['tag characters', 'x\u{e0041}', 'x[U+E0041]'],
    ['an invisible letter', 'a\u3164b', 'a[U+3164]b'],
    ['half a surrogate pair', 'a\ud800b', 'a[U+D800]b'],
    ['a line separator', 'a\u2028b', 'a[U+2028]b'],
  ])('shows %s', (_name, text, expected) => {
    expect(seen(text)).toBe(expected)
  })

  test.each(['/tmp/old.log', 'two\nlines\tand a tab', 'Grüße, 東京, שלום, Привет', '🙂'])('leaves %j alone', (text) => {
    expect(segments(text)).toEqual([{ kind: 'text', text }])
  })

  test('shortens nothing', () => {
    const text = `${'x'.repeat(20_000)}; rm -rf /`
    expect(seen(text)).toBe(text)
  })

  test('writes JSON that means the same', () => {
    const inputs = { path: 'reports/\u202egnp.exe', tag: '\u{e0041}', lines: 'a\nb' }
    const escaped = escapeJsonText(JSON.stringify(inputs, null, 4))
    expect(escaped).toContain('reports/\\u202egnp.exe')
    expect(segments(escaped).every((segment) => segment.kind === 'text')).toBe(true)
    expect(JSON.parse(escaped)).toEqual(inputs)
  })
})

describe('warnings', () => {
  test.each([
    ['plain text', 'delete /srv/app', 0],
    ['several languages in separate words', 'Привет world', 0],
    ['a word of two alphabets', '/srv/\u0430pp', 1],
    ['a hidden character', 'a\u200bb', 1],
  ])('%s', (_name, text, count) => {
    expect(warnings(text)).toHaveLength(count)
  })
})
