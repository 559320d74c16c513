import Type from 'typebox'
import { AppCapabilities, AppDescriptions, AppFileTypes, AppTitles } from '../app-manifest.ts'
import { actionType } from './action-type.ts'

const added = 'the server adds it from the manifest'

export const apkg = actionType({
  type: 'APKG',
  meaning:
    'An extension: offers an app package, its only attachment, to be installed by those who may read it. `name` and `version` are those of the package’s manifest, from which the server adds four more; what was given for these is not kept. A receiver fetches the package when it is installed, not before.',
  content: Type.Object({
    name: Type.String({ minLength: 1, maxLength: 100 }),
    version: Type.String({ minLength: 1, maxLength: 64 }),
    description: Type.Optional(Type.String({ maxLength: 1_000 })),
    tags: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { maxItems: 20 })),
    titles: Type.Optional({ ...AppTitles, description: added }),
    descriptions: Type.Optional({ ...AppDescriptions, description: added }),
    fileTypes: Type.Optional({ ...AppFileTypes, description: added }),
    capabilities: Type.Optional({ ...AppCapabilities, description: added }),
  }),
  subject: 'words',
  requires: ['content', 'attachments'],
  forbids: ['parentId'],
  subTypes: [],
  uniqueBy: undefined,
  arrivesAs: 'A',
  receivers: 'audience-or-circle',
  fromStrangers: 'refused',
  defaultVisibility: null,
})
