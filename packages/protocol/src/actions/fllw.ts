import { actionType } from './action-type.ts'

export const fllw = actionType({
  type: 'FLLW',
  meaning:
    'The issuer follows the audience and receives what it publishes from then on. With `subType: DEL` the issuer stops following.',
  content: undefined,
  subject: 'words',
  requires: ['audienceTag'],
  forbids: ['parentId', 'attachments'],
  subTypes: [],
  canEnd: true,
  uniqueBy: ['audienceTag'],
  arrivesAs: 'A',
  receivers: 'audience',
  fromStrangers: 'taken',
  defaultVisibility: null,
})
