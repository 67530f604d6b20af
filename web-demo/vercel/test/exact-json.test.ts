import { describe, expect, test } from 'vitest'
import { parseExact, printExact, toExact, withoutSource } from '@shared/exact-json'

describe('JSON as it was written', () => {
  test.each([
    ['an integer beyond 2^53', '{"id": 9007199254740993123}'],
    ['trailing zeros', '{"amount": 1250.00}'],
    ['an exponent', '{"size": 1E+400}'],
    ['negative zero', '{"offset": -0}'],
  ])('keeps %s', (_name, text) => {
    expect(printExact(parseExact(text)).replaceAll(/\s+/g, '')).toBe(text.replaceAll(' ', ''))
  })

  test('prints what the server prints', () => {
    const text = JSON.stringify({ to: ['a', 'b'], options: { urgent: false, none: null }, list: [], map: {} }, null, 4)
    expect(printExact(parseExact(text))).toBe(text)
  })

  test('keeps a key that objects treat specially', () => {
    expect(parseExact('{"__proto__": 1}')).toEqual({
      kind: 'object',
      entries: [['__proto__', { kind: 'literal', text: '1' }]],
    })
  })

  test('refuses what is not JSON', () => {
    expect(() => parseExact('(no arguments)')).toThrow(SyntaxError)
  })

  test.each([
    [7, '7'],
    [1.5, '1.5'],
    [9007199254740993, '≈ 9007199254740992'],
  ])('marks what may be rounded where the source of %d is not known', (value, text) => {
    expect(withoutSource(value)).toBe(text)
  })

  test('takes plain values', () => {
    expect(printExact(toExact({ path: '/a', depth: 2 }))).toBe('{\n    "path": "/a",\n    "depth": 2\n}')
  })
})
