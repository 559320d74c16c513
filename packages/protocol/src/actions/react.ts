import { actionType } from './action-type.ts'

/** The kinds of reactions. */
export const reactionKinds = ['LIKE', 'LOVE', 'LAUGH', 'WOW', 'SAD', 'ANGRY'] as const
export type ReactionKind = (typeof reactionKinds)[number]

export const react = actionType({
  type: 'REACT',
  meaning:
    'A reaction to an action, one per issuer: a later one replaces it. A `parentId` is taken as the subject.',
  content: undefined,
  subject: 'action',
  requires: ['subType'],
  requiresOneOf: ['subject', 'parentId'],
  forbids: ['attachments'],
  subTypes: reactionKinds,
  uniqueBy: ['subject'],
  endorses: 'subject',
  arrivesAs: 'A',
  receivers: 'subject',
  fromStrangers: { persons: 'refused', communities: 'refused', onReadable: true },
  defaultVisibility: 'inherited',
})
