import Type from 'typebox'
import { actionType } from './action-type.ts'

export const annc = actionType({
  type: 'ANNC',
  meaning:
    'An extension between servers, made by no caller: a community passes on to its members what one of them gave to it. `content.token` is the token of the action named as subject. With `subType: DEL` the community has taken that action away.',
  content: Type.Object({ token: Type.Optional(Type.String()) }),
  requires: ['subject'],
  forbids: ['parentId', 'attachments'],
  subTypes: [],
  canEnd: true,
  uniqueBy: undefined,
  arrivesAs: 'A',
  receivers: 'circle',
  // Whoever becomes a member is shown what was passed on within the last 30 days.
  lifetimeSecs: 60 * 86_400,
  defaultVisibility: null,
})
