import Type from 'typebox'
import { actionType } from './action-type.ts'
import { AltTexts } from './alt-texts.ts'

export const cmnt = actionType({
  type: 'CMNT',
  meaning:
    'A comment on an action or on another comment. Only the readers of the thread’s root may read it; the root’s issuer passes it on to them.',
  content: Type.Object({ text: Type.String({ minLength: 1, maxLength: 10_000 }), alt: AltTexts }),
  subject: 'words',
  requires: ['content', 'parentId'],
  forbids: [],
  subTypes: [],
  uniqueBy: undefined,
  endorses: 'parentId',
  arrivesAs: 'A',
  receivers: 'parent',
  fromStrangers: { persons: 'privacy.open_messages', communities: 'refused', onReadable: true },
  defaultVisibility: 'inherited',
})
