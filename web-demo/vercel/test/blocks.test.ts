import { describe, expect, test } from 'vitest'
import { validateUIMessages, type UIMessage } from 'ai'
import { toBlocks, type Block } from '../src/blocks'

const NOTHING = { clicked: new Map(), refusals: new Map() }

const descriptor = (id: string) => ({
  id,
  name: 'delete_file',
  description: `{\n    "path": "/${id}"\n}`,
  reason: 'Irreversible',
  inputs: { path: `/${id}` },
  risk: 'destructive',
})

const part = (id: string, state: string, approval: object, rest: object = {}) => ({
  type: 'tool-delete_file',
  toolCallId: id,
  state,
  input: { path: `/${id}` },
  approval: { id, ...approval },
  ...rest,
})

/** A message that the SDK itself accepts: what it would refuse never reaches the page. */
async function message(...parts: object[]): Promise<UIMessage> {
  const [checked] = await validateUIMessages({ messages: [{ id: 'm1', role: 'assistant', parts }] })
  if (!checked) throw new Error('no message')
  return checked
}

const kinds = (blocks: Block[]) => blocks.map((block) => block.kind)

describe('the parts of a message', () => {
  test('one batch is one block, with the truth of each call', async () => {
    const asked = await message(
      { type: 'step-start' },
      { type: 'text', text: 'I will.' },
      part('c1', 'approval-responded', { approved: false, reason: 'no', descriptor: descriptor('c1') }),
      part('c2', 'approval-requested', { descriptor: descriptor('c2') }),
    )
    const blocks = toBlocks(asked, NOTHING)
    expect(kinds(blocks)).toEqual(['text', 'approvals'])
    const batch = blocks[1]
    if (batch?.kind !== 'approvals') throw new Error('no batch')
    expect(batch.items.map((item) => [item.action.id, item.answer])).toEqual([
      ['c1', { approved: false, reason: 'no' }],
      ['c2', null],
    ])
  })

  test('settled calls and those of another step stand on their own', async () => {
    const asked = await message(
      { type: 'step-start' },
      part('c1', 'output-available', { approved: true }, { output: { deleted: true } }),
      part('c2', 'output-denied', { approved: false }),
      { type: 'step-start' },
      { type: 'text', text: '' },
      part('c3', 'approval-requested', { descriptor: descriptor('c3') }),
    )
    expect(kinds(toBlocks(asked, NOTHING))).toEqual(['call', 'call', 'approvals'])
  })

  test('a click counts at once, and a call that is asked again says why', async () => {
    const asked = await message(part('c1', 'approval-requested', {}), part('c2', 'approval-requested', {}))
    const own = { clicked: new Map([['c1', { approved: true } as const]]), refusals: new Map([['c2', 'It changed.']]) }
    const [batch] = toBlocks(asked, own)
    if (batch?.kind !== 'approvals') throw new Error('no batch')
    expect(batch.items.map((item) => [item.answer, item.refusal])).toEqual([
      [{ approved: true }, null],
      [null, 'It changed.'],
    ])
  })

  test('the action comes from the metadata where the part has no descriptor', async () => {
    const asked = await message(part('c1', 'approval-requested', {}))
    const [batch] = toBlocks({ ...asked, metadata: { signoff: { c1: descriptor('c1') } } }, NOTHING)
    if (batch?.kind !== 'approvals') throw new Error('no batch')
    expect(batch.items[0]?.action).toMatchObject({ reason: 'Irreversible', risk: 'destructive' })
  })
})
