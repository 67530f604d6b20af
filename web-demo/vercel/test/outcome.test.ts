import { describe, expect, test } from 'vitest'
import { outputText, readDenial, readFailure, readOutcome } from '@shared/outcome'

const rejection = (reason: string) =>
  `TOOL NOT EXECUTED. The user rejected this action. User instruction: ${reason}. Do not attempt this tool again. ` +
  "Follow the user's instruction or reconsider your plan."

describe('an AG-UI tool message', () => {
  test.each([
    ['a rejection with a reason', rejection('Use the copy. Not this'), { kind: 'rejected', reason: 'Use the copy. Not this' }],
    ['a rejection without', rejection('No specific instruction provided'), { kind: 'rejected', reason: null }],
    [
      'an expiry',
      'TOOL NOT EXECUTED. Nobody answered the approval request in time. Do not attempt this tool again unless the user asks for it.',
      { kind: 'expired' },
    ],
    [
      'a lost result',
      'OUTCOME UNKNOWN. The tool was started, but its result was lost. Do not run it again. Tell the user, and how to check.',
      { kind: 'unknown' },
    ],
    [
      'a call that was never started',
      'TOOL NOT EXECUTED. The run ended before this tool was started.',
      { kind: 'error', text: 'TOOL NOT EXECUTED. The run ended before this tool was started.' },
    ],
    ['unreadable arguments', 'INVALID ARGUMENTS. Not JSON.', { kind: 'error', text: 'INVALID ARGUMENTS. Not JSON.' }],
    ['a result', '{"deleted":true}', { kind: 'ran', result: '{"deleted":true}' }],
  ])('%s', (_name, content, outcome) => {
    expect(readOutcome(content)).toEqual(outcome)
  })

  test('with an error beside it', () => {
    expect(readOutcome('No such file', true)).toEqual({ kind: 'error', text: 'No such file' })
  })
})

describe('a Vercel part', () => {
  test.each([
    [undefined, { kind: 'rejected', reason: null }],
    ['', { kind: 'rejected', reason: null }],
    ['not now', { kind: 'rejected', reason: 'not now' }],
    ['expired', { kind: 'expired' }],
    ['OUTCOME UNKNOWN. The tool was started.', { kind: 'unknown' }],
    ['TOOL NOT EXECUTED. The run ended.', { kind: 'error', text: 'TOOL NOT EXECUTED. The run ended.' }],
  ])('denied with %j', (reason, outcome) => {
    expect(readDenial(reason)).toEqual(outcome)
  })

  test.each([
    ['No such file', { kind: 'error', text: 'No such file' }],
    ['OUTCOME UNKNOWN. The tool was started.', { kind: 'unknown' }],
  ])('failed with %j', (text, outcome) => {
    expect(readFailure(text)).toEqual(outcome)
  })

  test.each([
    ['done', 'done'],
    [{ deleted: true }, '{\n  "deleted": true\n}'],
    [null, 'null'],
  ])('whose output is %j', (output, text) => {
    expect(outputText(output)).toBe(text)
  })
})
