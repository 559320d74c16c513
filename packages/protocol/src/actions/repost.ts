import { actionType } from './action-type.ts'

export const repost = actionType({
  type: 'REPOST',
  meaning:
    'Shows a public action of somebody else to one’s own followers. It counts among the action’s shares.',
  content: undefined,
  requires: ['subject'],
  forbids: ['parentId', 'attachments'],
  subTypes: [],
  uniqueBy: ['subject'],
  arrivesAs: 'A',
  receivers: 'circle',
  defaultVisibility: 'P',
})
