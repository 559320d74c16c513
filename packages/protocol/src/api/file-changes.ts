import Type, { type Static } from 'typebox'
import { contract } from '../contract.ts'
import { CommaList, FileIdParam, IsoTime, Nullable, Words } from '../schemas.ts'
import { visibilityCodes } from '../visibility-codes.ts'
import { CreatedFile, FileView } from './files.ts'

const tag = 'Files'
const fileParam = Type.Object({ fileId: FileIdParam })
const name = Type.String({ description: '1 to 255 characters, no slashes, no control characters' })
const parent = Nullable(Type.String({ description: 'A folder; null: no folder' }))
const visibility = Nullable(Words(visibilityCodes))

export const createFile = contract({
  name: 'createFile',
  method: 'POST',
  path: '/api/files',
  tag,
  summary: 'Make a collaborative document, a real-time database or a folder',
  auth: 'required',
  gateway: true,
  scope: 'write:files',
  guests: true,
  body: {
    kind: 'json',
    schema: Type.Object({
      fileTp: Words(['CRDT', 'RTDB', 'FLDR']),
      fileName: Type.Optional(name),
      contentType: Type.Optional(
        Type.String({ maxLength: 127, description: 'What the content means to the app that opens it' }),
      ),
      tags: Type.Optional(CommaList()),
      parentId: Type.Optional(parent),
      visibility: Type.Optional(visibility),
    }),
  },
  reply: { kind: 'data', status: 201, schema: CreatedFile },
  errors: ['E-AUTH-FORBIDDEN', 'E-FILE-NOTFOUND', 'E-STATE'],
  example: { body: { fileTp: 'CRDT', fileName: 'Minutes', tags: 'work' } },
})

export const changeFile = contract({
  name: 'changeFile',
  method: 'PATCH',
  path: '/api/files/{fileId}',
  tag,
  summary:
    'Rename, tag or move a file, or change who may read it; who may write it by a share or a reference renames it, and moves it within what was shared',
  auth: 'required',
  gateway: true,
  scope: 'write:files',
  guests: true,
  params: fileParam,
  body: {
    kind: 'json',
    schema: Type.Object({
      fileName: Type.Optional(name),
      tags: Type.Optional(CommaList()),
      parentId: Type.Optional(parent),
      visibility: Type.Optional(visibility),
    }),
  },
  reply: { kind: 'data', status: 200, schema: FileView },
  errors: ['E-AUTH-FORBIDDEN', 'E-FILE-NOTFOUND', 'E-STATE'],
})

export const DeletedFile = Type.Union([
  Type.Literal('ok'),
  Type.Object({ fileId: Type.String(), permanent: Type.Literal(true) }),
])

export const deleteFile = contract({
  name: 'deleteFile',
  method: 'DELETE',
  path: '/api/files/{fileId}',
  tag,
  summary:
    'Move a file, or a folder with its content, into the trash; with `permanent`, remove it from there: files that the caller does not own stay in their owner’s trash for 30 days',
  auth: 'required',
  gateway: true,
  scope: 'write:files',
  guests: true,
  params: fileParam,
  query: Type.Object({
    permanent: Type.Optional(Type.Boolean({ description: 'For good, instead of into the trash' })),
  }),
  reply: { kind: 'data', status: 200, schema: DeletedFile },
  errors: ['E-AUTH-FORBIDDEN', 'E-FILE-NOTFOUND', 'E-STATE'],
})

export const RestoredFile = Type.Object({
  fileId: Type.String(),
  parentId: Nullable(Type.String()),
  restoredAt: IsoTime,
})
export type RestoredFile = Static<typeof RestoredFile>

export const restoreFile = contract({
  name: 'restoreFile',
  method: 'POST',
  path: '/api/files/{fileId}/restore',
  tag,
  summary: 'Restore a file, or a folder with its content, from the trash',
  auth: 'required',
  gateway: true,
  scope: 'write:files',
  guests: true,
  params: fileParam,
  body: {
    kind: 'json',
    optional: true,
    schema: Type.Object({
      parentId: Type.Optional(
        Nullable(
          Type.String({ description: 'A folder; null: no folder; absent: where it was, if that is there' }),
        ),
      ),
    }),
  },
  reply: { kind: 'data', status: 200, schema: RestoredFile },
  errors: ['E-AUTH-FORBIDDEN', 'E-FILE-NOTFOUND', 'E-STATE'],
})

export const EmptiedTrash = Type.Object({ deletedCount: Type.Integer(), deleted: Type.Integer() })

export const emptyTrash = contract({
  name: 'emptyTrash',
  method: 'DELETE',
  path: '/api/trash',
  tag,
  summary: 'Empty the caller’s trash',
  auth: 'required',
  gateway: true,
  scope: 'write:files',
  reply: { kind: 'data', status: 200, schema: EmptiedTrash },
  errors: [],
})

export const duplicateFile = contract({
  name: 'duplicateFile',
  method: 'POST',
  path: '/api/files/{fileId}/duplicate',
  tag,
  summary: 'Copy a collaborative document or a real-time database with its content',
  auth: 'required',
  gateway: true,
  scope: 'write:files',
  params: fileParam,
  body: {
    kind: 'json',
    optional: true,
    schema: Type.Object({ fileName: Type.Optional(name), parentId: Type.Optional(parent) }),
  },
  reply: { kind: 'data', status: 201, schema: Type.Object({ fileId: Type.String() }) },
  errors: ['E-AUTH-FORBIDDEN', 'E-FILE-NOTFOUND', 'E-STATE', 'E-QUOTA', 'E-UNAVAILABLE'],
})

const tagParams = Type.Object({
  fileId: FileIdParam,
  tag: Type.String({ minLength: 1, maxLength: 256, description: 'A tag, without comma' }),
})
const Tags = Type.Object({ tags: Type.Array(Type.String()) })

export const putTag = contract({
  name: 'putTag',
  method: 'PUT',
  path: '/api/files/{fileId}/tag/{tag}',
  tag,
  summary: 'Tag a file',
  auth: 'required',
  gateway: true,
  scope: 'write:files',
  params: tagParams,
  reply: { kind: 'data', status: 200, schema: Tags },
  errors: ['E-AUTH-FORBIDDEN', 'E-FILE-NOTFOUND'],
})

export const removeTag = contract({
  name: 'removeTag',
  method: 'DELETE',
  path: '/api/files/{fileId}/tag/{tag}',
  tag,
  summary: 'Remove a tag from a file',
  auth: 'required',
  gateway: true,
  scope: 'write:files',
  params: tagParams,
  reply: { kind: 'data', status: 200, schema: Tags },
  errors: ['E-AUTH-FORBIDDEN', 'E-FILE-NOTFOUND'],
})

export const fileChangeContracts = [
  createFile,
  changeFile,
  deleteFile,
  restoreFile,
  emptyTrash,
  duplicateFile,
  putTag,
  removeTag,
]
