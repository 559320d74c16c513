import Type from 'typebox'
import { actionType } from './action-type.ts'

export const annc = actionType({
  type: 'ANNC',
  meaning:
    'An extension between servers, made by no caller: a community passes on to its members what one of them gave to it, and whose thread it is what is said there. The token of the action named as subject is delivered beside it, and `content.hash` is the SHA-256 of its text. With `subType: DEL` that action has been taken away.',
  content: Type.Object({
    hash: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9_-]{43}$' })),
  }),
  requires: ['subject'],
  forbids: ['parentId', 'attachments'],
  subTypes: [],
  canEnd: true,
  uniqueBy: undefined,
  arrivesAs: 'A',
  receivers: 'circle',
  fromStrangers: 'refused',
  // Whoever becomes a member is shown what was passed on within the last 30 days.
  lifetimeSecs: 60 * 86_400,
  defaultVisibility: null,
})
