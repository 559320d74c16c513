/** A message came or went, or messages were marked as read. */
export interface ConversationEvent {
  readonly kind: 'conversation.changed'
  readonly conversationId: string
}
