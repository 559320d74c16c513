import Type from 'typebox'
import { actionType } from './action-type.ts'
import { AltTexts } from './alt-texts.ts'

export const msg = actionType({
  type: 'MSG',
  meaning:
    'A private message to the audience. An answer names a message as its parent and goes to everyone who received that one.',
  content: Type.Object({
    text: Type.String({ minLength: 1, maxLength: 50_000 }),
    subject: Type.Optional(Type.String({ maxLength: 300 })),
    alt: AltTexts,
  }),
  subject: 'words',
  requires: ['content'],
  requiresOneOf: ['audienceTag', 'audience', 'parentId'],
  forbids: [],
  subTypes: [],
  uniqueBy: undefined,
  endorses: 'parentId',
  arrivesAs: 'A',
  receivers: 'audience',
  fromStrangers: { persons: 'privacy.open_messages', communities: 'privacy.open_messages' },
  defaultVisibility: 'direct',
})
