import Type, { type Static } from 'typebox'
import { contract } from '../contract.ts'
import { FileIdParam, IsoTime } from '../schemas.ts'

const tag = 'Files'
const fileParam = Type.Object({ fileId: FileIdParam })
const snapshotParams = Type.Object({
  fileId: FileIdParam,
  seq: Type.Integer({ minimum: 1, description: 'The number of a snapshot' }),
})

/** A state of a document or a database in the past. */
export const FileSnapshot = Type.Object({
  seq: Type.Integer(),
  createdAt: IsoTime,
  size: Type.Integer({ description: 'Bytes' }),
  writers: Type.Array(Type.String(), {
    description: 'Identities that wrote since the snapshot before; of guests nothing is said',
  }),
})
export type FileSnapshot = Static<typeof FileSnapshot>

export const listFileHistory = contract({
  name: 'listFileHistory',
  method: 'GET',
  path: '/api/files/{fileId}/history',
  tag,
  summary: 'The snapshots of a document or a database, the newest first',
  auth: 'optional',
  gateway: true,
  scope: 'read:files',
  guests: true,
  params: fileParam,
  reply: { kind: 'data', status: 200, schema: Type.Array(FileSnapshot) },
  errors: ['E-AUTH-FORBIDDEN', 'E-FILE-NOTFOUND', 'E-STATE'],
})

export const getFileSnapshot = contract({
  name: 'getFileSnapshot',
  method: 'GET',
  path: '/api/files/{fileId}/history/{seq}',
  tag,
  summary: 'A snapshot as bytes: the update of a document, the JSON lines of a database',
  auth: 'optional',
  gateway: true,
  scope: 'read:files',
  guests: true,
  queryToken: true,
  params: snapshotParams,
  reply: { kind: 'bytes', status: 200 },
  errors: ['E-AUTH-FORBIDDEN', 'E-FILE-NOTFOUND', 'E-NOTFOUND', 'E-STATE'],
})

export const restoreFileSnapshot = contract({
  name: 'restoreFileSnapshot',
  method: 'POST',
  path: '/api/files/{fileId}/history/{seq}/restore',
  tag,
  summary: 'Make a document or a database what it was, as a new change on top of the others',
  auth: 'required',
  gateway: true,
  scope: 'write:files',
  guests: true,
  params: snapshotParams,
  reply: { kind: 'data', status: 200, schema: Type.Object({ fileId: Type.String(), seq: Type.Integer() }) },
  errors: ['E-AUTH-FORBIDDEN', 'E-FILE-NOTFOUND', 'E-NOTFOUND', 'E-STATE', 'E-QUOTA'],
})

export const fileHistoryContracts = [listFileHistory, getFileSnapshot, restoreFileSnapshot]
