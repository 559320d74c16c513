import Type from 'typebox'
import { actionType } from './action-type.ts'

export const annc = actionType({
  type: 'ANNC',
  meaning:
    'An extension between servers; no caller makes one. A community passes on to its members what a member posted to it, and the owner of a thread passes on the comments in it. The token of the action named as subject is delivered beside it, and `content.hash` is the SHA-256 of its text. With `subType: DEL` that action has been removed.',
  content: Type.Object({
    hash: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9_-]{43}$' })),
  }),
  subject: 'action',
  requires: ['subject'],
  forbids: ['parentId', 'attachments'],
  subTypes: [],
  canEnd: true,
  uniqueBy: undefined,
  arrivesAs: 'A',
  receivers: 'circle',
  fromStrangers: 'refused',
  // The history that a new member is sent reaches back 30 days (docs/protocol/delivery.md): the token must be valid then.
  lifetimeSecs: 60 * 86_400,
  defaultVisibility: null,
})
