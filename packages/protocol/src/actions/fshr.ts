import Type from 'typebox'
import { fileTypes } from '../ids.ts'
import { TimestampInput, Words } from '../schemas.ts'
import { actionType } from './action-type.ts'

export const fshr = actionType({
  type: 'FSHR',
  meaning:
    'Gives the audience access to the file named as subject. Accepted, the file appears among the receiver’s. `subType: DEL` withdraws it. The server adds name and type of the file, so that they can be shown before.',
  content: Type.Object({
    permission: Words(['READ', 'WRITE']),
    message: Type.Optional(Type.String({ maxLength: 500 })),
    expiresAt: Type.Optional(TimestampInput),
    fileName: Type.Optional(Type.String({ maxLength: 255 })),
    contentType: Type.Optional(Type.String({ maxLength: 255 })),
    fileTp: Type.Optional(Words(fileTypes)),
  }),
  subject: 'file',
  requires: ['subject', 'audienceTag', 'content'],
  forbids: ['parentId', 'attachments'],
  subTypes: [],
  canEnd: true,
  uniqueBy: ['subject', 'audienceTag'],
  arrivesAs: 'C',
  receivers: 'audience',
  fromStrangers: 'request',
  defaultVisibility: null,
})
