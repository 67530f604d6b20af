import { describe, expect, test } from 'vitest'
import { readAction } from '@shared/action'
import { duration } from '@shared/expiry'
import { failureSentence } from '@shared/wire'

const FACTS = { id: 'c1', name: 'delete_file', inputs: { path: '/a' } }

/** A pending action as `GET /threads/{id}/approvals` answers it. */
const PENDING = {
  id: 'c1',
  name: 'delete_file',
  description: '{\n    "path": "/tmp/old.log",\n    "size": 9007199254740993\n}',
  decision: 'pending',
  feedback: null,
  reason: 'Deleting a file is irreversible',
  inputs: { path: '/tmp/old.log', size: 9007199254740992 },
  risk: 'destructive',
  expiresAt: '2026-12-01T09:30:00.000Z',
  allows: [],
  preview: null,
  fingerprint: 'f',
}

describe('a pending action', () => {
  test('shows the numbers that will run, not the rounded ones', () => {
    expect(readAction(PENDING, FACTS).json).toBe(PENDING.description)
  })

  test('is read whole', () => {
    expect(readAction(PENDING, FACTS)).toMatchObject({
      id: 'c1',
      reason: 'Deleting a file is irreversible',
      risk: 'destructive',
      preview: null,
      expiresAt: new Date('2026-12-01T09:30:00Z'),
    })
  })

  test.each([
    ['nothing', undefined],
    ['null', null],
    ['another shape', ['c1']],
    ['other types', { name: 7, risk: 'harmless', expiresAt: 'soon', preview: 3 }],
  ])('falls back on the call itself for %s', (_name, wire) => {
    expect(readAction(wire, FACTS)).toEqual({
      id: 'c1',
      name: 'delete_file',
      reason: '',
      risk: null,
      inputs: { kind: 'object', entries: [['path', { kind: 'string', text: '/a' }]] },
      json: '{\n    "path": "/a"\n}',
      preview: null,
      expiresAt: null,
    })
  })

  test('without inputs', () => {
    const action = readAction({ ...PENDING, description: '(no arguments)', inputs: {} }, FACTS)
    expect(action.inputs).toEqual({ kind: 'object', entries: [] })
  })
})

test.each([
  [1, '1 second'],
  [119, '119 seconds'],
  [150, '2 minutes'],
  [3 * 3600, '3 hours'],
  [3 * 86400, '3 days'],
])('%i seconds are %s', (seconds, words) => {
  expect(duration(seconds)).toBe(words)
})

test.each([
  ['a problem', '{"title":"A run is in progress.","detail":"Wait for it."}', 'A run is in progress. Wait for it.'],
  ['a page', '<h1>502</h1>', 'Sorry.'],
  ['another JSON', '[]', 'Sorry.'],
])('the sentence for %s', (_name, body, sentence) => {
  expect(failureSentence(body, 'Sorry.')).toBe(sentence)
})
