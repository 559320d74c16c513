import Type from 'typebox'
import { actionType } from './action-type.ts'

export const shre = actionType({
  type: 'SHRE',
  meaning:
    'Shares a resource: an action or file of this network as `subject`, or a link as `content.url`; one of the two is required. The issuer of a shared action receives it as well.',
  content: Type.Object({
    url: Type.Optional(Type.String({ maxLength: 2_048, description: 'An http or https address' })),
    title: Type.Optional(Type.String({ maxLength: 300 })),
    text: Type.Optional(Type.String({ maxLength: 50_000 })),
    summary: Type.Optional(Type.String({ maxLength: 1_000 })),
  }),
  subject: 'words',
  requires: [],
  requiresOneOf: ['subject', 'content'],
  forbids: ['parentId'],
  uniqueBy: undefined,
  endorses: 'subject',
  arrivesAs: 'A',
  receivers: 'audience-or-circle',
  fromStrangers: { persons: 'privacy.open_wall', communities: 'refused' },
  defaultVisibility: 'P',
})
