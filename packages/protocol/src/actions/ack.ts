import { actionType } from './action-type.ts'

export const ack = actionType({
  type: 'ACK',
  meaning:
    'Tells the issuer of a message, as its audience, that it arrived or was read. The issuer’s server notes it as `x.ackedAt`.',
  content: undefined,
  subject: 'action',
  requires: ['subject'],
  forbids: ['parentId', 'attachments'],
  uniqueBy: undefined,
  arrivesAs: 'A',
  receivers: 'audience',
  fromStrangers: 'taken',
  defaultVisibility: null,
})
