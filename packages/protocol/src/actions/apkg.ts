import Type from 'typebox'
import { actionType } from './action-type.ts'

export const apkg = actionType({
  type: 'APKG',
  meaning:
    'An extension: offers an app package, its only attachment, to be installed by those who may read it. `name` and `version` are those of the package’s manifest, whose `capabilities` the server adds. A receiver fetches the package when it is installed, not before.',
  content: Type.Object({
    name: Type.String({ minLength: 1, maxLength: 100 }),
    version: Type.String({ minLength: 1, maxLength: 64 }),
    description: Type.Optional(Type.String({ maxLength: 1_000 })),
    tags: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { maxItems: 20 })),
  }),
  requires: ['content', 'attachments'],
  forbids: ['parentId'],
  subTypes: [],
  uniqueBy: undefined,
  hasFreeSubject: true,
  arrivesAs: 'A',
  receivers: 'audience-or-circle',
  fromStrangers: 'refused',
  defaultVisibility: null,
})
