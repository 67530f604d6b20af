import type { PrepareSendMessagesRequest, UIMessage } from 'ai'

/**
 * The body of a chat request with one message in it, in place of the page's whole past: the server
 * has that, and believes its own.
 *
 * The message is the one that the request is about. An answer names its assistant message, which
 * need not be the last one; a reply that is to be made anew belongs to the last user message.
 */
export const onlyTheSubject: PrepareSendMessagesRequest<UIMessage> = ({ id, messages, trigger, messageId, body }) => ({
  body: { ...body, id, message: subject(messages, trigger, messageId), trigger, messageId },
})

function subject(messages: UIMessage[], trigger: string, messageId: string | undefined): UIMessage | undefined {
  if (trigger === 'regenerate-message') return messages.findLast((one) => one.role === 'user')
  return messages.find((one) => one.role === 'assistant' && one.id === messageId) ?? messages.at(-1)
}
