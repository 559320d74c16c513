import Type from 'typebox'
import { actionType } from './action-type.ts'

const count = Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000_000 }))

export const stat = actionType({
  type: 'STAT',
  meaning:
    'An extension between servers; no caller makes one. It tells how often the issuer’s action named as subject was reacted to, commented on, viewed and shared. Only the counts of the issuer’s server are final.',
  content: Type.Object({ reactions: count, comments: count, views: count, shares: count }),
  subject: 'action',
  requires: ['subject', 'content'],
  forbids: ['parentId', 'attachments'],
  subTypes: [],
  uniqueBy: ['subject'],
  arrivesAs: 'A',
  receivers: 'nobody',
  fromStrangers: 'taken',
  lifetimeSecs: 7 * 86_400,
  defaultVisibility: null,
})
