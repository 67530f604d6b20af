import { describe, expect, test } from 'vitest'
import { NO_RECORD, readRecord } from '@shared/thread-record'

const asked = (callId: string) => ({ callId, name: 'delete_file', approval: 'pending' })
const action = (id: string, decision = 'pending', feedback: string | null = null) => ({
  id,
  name: 'delete_file',
  description: '{}',
  decision,
  feedback,
})

describe('a thread', () => {
  test('that is half answered', () => {
    const first = action('c1', 'reject', 'Not today')
    const second = action('c2', 'approve')
    const record = readRecord({
      id: 't1',
      status: 'awaiting_approval',
      messages: [
        { role: 'user', content: [] },
        { role: 'assistant', type: 'tool_call', tools: [asked('c0')] },
        { role: 'user', type: 'tool_call_result', tools: [{ callId: 'c0', approval: 'approved', outcome: 'output' }] },
        { role: 'assistant', type: 'tool_call', tools: [asked('c1'), asked('c2'), asked('c3')] },
      ],
      pending: [action('c3')],
      answered: [first, second],
    })
    expect(record).toEqual({
      status: 'awaiting_approval',
      approved: new Set(['c0']),
      batch: ['c1', 'c2', 'c3'],
      pending: ['c3'],
      answered: [
        { id: 'c1', answer: { approved: false, reason: 'Not today' }, wire: first },
        { id: 'c2', answer: { approved: true }, wire: second },
      ],
    })
  })

  test('whose calls ran without approval, were rejected, or were never asked about', () => {
    const tools = [
      { callId: 'c1', outcome: 'output' },
      { callId: 'c2', approval: 'rejected', outcome: 'rejected' },
    ]
    const messages = [{ role: 'user', type: 'tool_call_result', tools }]
    expect(readRecord({ status: 'failed', messages, pending: [] })).toEqual({ ...NO_RECORD, status: 'failed' })
  })

  test.each([null, [], 'text', {}, { messages: {}, pending: [1], answered: [{ id: 'c1' }, null] }])('that is %j', (odd) => {
    expect(readRecord(odd)).toEqual(NO_RECORD)
  })
})
