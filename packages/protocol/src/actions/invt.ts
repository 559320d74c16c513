import Type from 'typebox'
import { actionType } from './action-type.ts'

export const invt = actionType({
  type: 'INVT',
  meaning:
    'Invites the audience into the community named as subject. Accepted, it asks the community for a connection, which the community accepts by itself when the inviter is a moderator there. The community receives it as well.',
  content: Type.Object({ message: Type.Optional(Type.String({ maxLength: 500 })) }),
  subject: 'identity',
  requires: ['audienceTag', 'subject'],
  forbids: ['parentId', 'attachments'],
  subTypes: [],
  uniqueBy: undefined,
  arrivesAs: 'C',
  receivers: 'audience',
  fromStrangers: 'request',
  defaultVisibility: null,
})
