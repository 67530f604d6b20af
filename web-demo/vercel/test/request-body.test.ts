import { DefaultChatTransport, type UIMessage } from 'ai'
import { expect, test } from 'vitest'
import { onlyTheSubject } from '../src/request-body'

const messages: UIMessage[] = [
  { id: 'u1', role: 'user', parts: [{ type: 'text', text: 'first' }] },
  { id: 'a1', role: 'assistant', parts: [{ type: 'text', text: 'first answer' }] },
  { id: 'u2', role: 'user', parts: [{ type: 'text', text: 'second' }] },
  { id: 'a2', role: 'assistant', parts: [{ type: 'text', text: 'second answer' }] },
]

/** What the SDK's own transport posts. */
async function posted(of: UIMessage[], trigger: 'submit-message' | 'regenerate-message', messageId?: string) {
  const bodies: unknown[] = []
  const transport = new DefaultChatTransport({
    api: 'http://server.test/chat',
    prepareSendMessagesRequest: onlyTheSubject,
    fetch: async (_address, init) => {
      bodies.push(JSON.parse(String(init?.body)))
      return new Response(new ReadableStream({ start: (stream) => stream.close() }))
    },
  })
  await transport.sendMessages({ chatId: 't1', messages: of, trigger, messageId, abortSignal: undefined })
  return bodies
}

test('a new message is posted alone', async () => {
  const body = { id: 't1', message: messages[2], trigger: 'submit-message' }
  expect(await posted(messages.slice(0, 3), 'submit-message')).toEqual([body])
})

test.each(['a2', 'a1'])('answers are posted in the message that has them: %s', async (id) => {
  const message = messages.find((one) => one.id === id)
  const body = { id: 't1', message, trigger: 'submit-message', messageId: id }
  expect(await posted(messages, 'submit-message', id)).toEqual([body])
})

test('a changed message is posted under its id', async () => {
  const body = { id: 't1', message: messages[2], trigger: 'submit-message', messageId: 'u2' }
  expect(await posted(messages.slice(0, 3), 'submit-message', 'u2')).toEqual([body])
})

test.each([
  ['without the reply', messages.slice(0, 3)],
  ['with it', messages],
])('a reply is made anew to the last user message, %s', async (_name, shown) => {
  const body = { id: 't1', message: messages[2], trigger: 'regenerate-message', messageId: 'a2' }
  expect(await posted(shown, 'regenerate-message', 'a2')).toEqual([body])
})
