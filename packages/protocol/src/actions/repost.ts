import { actionType } from './action-type.ts'

export const repost = actionType({
  type: 'REPOST',
  meaning:
    'Shows a public action of another identity to the issuer’s followers. The action’s issuer receives it as well, and counts it among the shares.',
  content: undefined,
  subject: 'action',
  requires: ['subject'],
  forbids: ['parentId', 'attachments'],
  subTypes: [],
  uniqueBy: ['subject'],
  endorses: 'subject',
  arrivesAs: 'A',
  receivers: 'circle',
  fromStrangers: { persons: 'privacy.open_wall', communities: 'refused' },
  defaultVisibility: 'P',
})
