import Type from 'typebox'
import { actionType } from './action-type.ts'
import { AltTexts } from './alt-texts.ts'

export const post = actionType({
  type: 'POST',
  meaning:
    'A post for the followers and connections that its visibility admits, or for a community when an audience is named.',
  content: Type.Object({
    title: Type.Optional(Type.String({ maxLength: 300 })),
    text: Type.Optional(Type.String({ maxLength: 50_000 })),
    summary: Type.Optional(Type.String({ maxLength: 1_000 })),
    category: Type.Optional(Type.String({ maxLength: 64 })),
    tags: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { maxItems: 20 })),
    alt: AltTexts,
  }),
  subject: 'words',
  requires: ['content'],
  forbids: ['parentId'],
  uniqueBy: undefined,
  arrivesAs: 'A',
  receivers: 'audience-or-circle',
  fromStrangers: { persons: 'privacy.open_wall', communities: 'refused' },
  defaultVisibility: 'P',
})
