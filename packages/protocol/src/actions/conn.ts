import Type from 'typebox'
import { actionType } from './action-type.ts'

export const conn = actionType({
  type: 'CONN',
  meaning:
    'Asks the audience for a connection. Accepted, it is answered by a CONN in return whose subject is this one, and both are connected; so are two requests that cross. `subType: DEL` refuses a request or ends the connection.',
  content: Type.Object({ message: Type.Optional(Type.String({ maxLength: 500 })) }),
  subject: 'action',
  requires: ['audienceTag'],
  forbids: ['parentId', 'attachments'],
  subTypes: [],
  canEnd: true,
  uniqueBy: ['audienceTag'],
  arrivesAs: 'C',
  receivers: 'audience',
  fromStrangers: 'request',
  defaultVisibility: null,
})
