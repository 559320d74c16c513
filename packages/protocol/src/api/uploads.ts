import Type, { type Static, type TProperties } from 'typebox'
import { contract } from '../contract.ts'
import { IsoTime } from '../schemas.ts'

const tag = 'Resumable uploads'

/** The version of the tus protocol that these endpoints speak. */
export const tusVersion = '1.0.0'

/** The content type of the pieces of a resumable upload. */
export const uploadPieceType = 'application/offset+octet-stream'

const answerHeaders = {
  'tus-resumable': tusVersion,
  'tus-version': tusVersion,
  'tus-extension': 'creation,expiration,termination',
}

/** The headers of extensions that are not offered: `concatenation`, `creation-defer-length`, `checksum`. A client that sends
 * one expects what would not happen. */
export const unofferedTusHeaders = ['upload-concat', 'upload-defer-length', 'upload-checksum'] as const

/** The state of a resumable upload; the headers of the answers, for tus clients, say the same. */
export const UploadView = Type.Object({
  uploadId: Type.String(),
  offset: Type.Integer({ description: 'Bytes that have arrived and are kept' }),
  length: Type.Integer({ description: 'Bytes' }),
  expiresAt: Type.String({
    ...IsoTime,
    description: 'When it is discarded unless it is continued; ISO 8601, UTC',
  }),
  fileId: Type.Optional(Type.String({ description: 'The file it has become, also as `X-File-Id`' })),
})
export type UploadView = Static<typeof UploadView>

/** The version is optional in the schema alone: without it the answer is 412, as tus requires. */
function tusHeaders<More extends TProperties>(more: More) {
  const version = Type.Optional(Type.String({ description: `Required: \`${tusVersion}\`` }))
  const unoffered = Type.Optional(Type.String({ description: 'Of an extension that is not offered: 400' }))
  return Type.Object({
    'tus-resumable': version,
    ...more,
    'upload-concat': unoffered,
    'upload-defer-length': unoffered,
    'upload-checksum': unoffered,
  })
}

const uploadParam = Type.Object({ uploadId: Type.String({ description: 'The id of an upload' }) })

export const createUpload = contract({
  name: 'createUpload',
  method: 'POST',
  path: '/api/uploads',
  tag,
  summary: 'Begin a resumable upload (tus 1.0): its storage is reserved, its URL is the `Location`',
  auth: 'required',
  scope: 'write:files',
  guests: true,
  headers: tusHeaders({
    'upload-length': Type.Integer({ minimum: 0, description: 'Bytes of the whole file' }),
    'upload-metadata': Type.Optional(
      Type.String({
        maxLength: 8192,
        description:
          'Comma list of names with base64 values: `filename`, `filetype`, `preset`, `parentId`, `tags`, `visibility`, `replaces`, `createdAt` (or `created_at`), as of an upload',
      }),
    ),
  }),
  reply: { kind: 'data', status: 201, schema: UploadView },
  answerHeaders,
  errors: ['E-TOOLARGE', 'E-QUOTA', 'E-FILE-NOTFOUND', 'E-STATE', 'E-PRECONDITION', 'E-UNAVAILABLE'],
})

export const getUpload = contract({
  name: 'getUpload',
  method: 'GET',
  path: '/api/uploads/{uploadId}',
  tag,
  summary: 'The state of a resumable upload; HEAD answers the same in headers',
  description: 'HEAD ends a PATCH of it that is still under way, and counts what that has brought.',
  auth: 'required',
  scope: 'read:files',
  guests: true,
  params: uploadParam,
  headers: tusHeaders({}),
  reply: { kind: 'data', status: 200, schema: UploadView },
  answerHeaders,
  errors: ['E-NOTFOUND', 'E-PRECONDITION'],
})

export const continueUpload = contract({
  name: 'continueUpload',
  method: 'PATCH',
  overridesPost: true,
  path: '/api/uploads/{uploadId}',
  tag,
  summary: 'Send the next bytes of a resumable upload; with the last of them it becomes a file',
  description:
    'Bytes that arrived before a connection broke are kept. A new request replaces one that is still under way.',
  auth: 'required',
  scope: 'write:files',
  guests: true,
  params: uploadParam,
  headers: tusHeaders({
    'upload-offset': Type.Integer({
      minimum: 0,
      description: 'The number of bytes that the server has; otherwise 409',
    }),
  }),
  body: { kind: 'bytes', mediaType: uploadPieceType },
  reply: { kind: 'empty', status: 204 },
  answerHeaders,
  errors: ['E-NOTFOUND', 'E-STATE', 'E-QUOTA', 'E-FILE-NOTFOUND', 'E-PRECONDITION', 'E-UNAVAILABLE'],
})

export const endUpload = contract({
  name: 'endUpload',
  method: 'DELETE',
  overridesPost: true,
  path: '/api/uploads/{uploadId}',
  tag,
  summary: 'Cancel a resumable upload; a finished file stays',
  auth: 'required',
  scope: 'write:files',
  guests: true,
  params: uploadParam,
  headers: tusHeaders({}),
  reply: { kind: 'empty', status: 204 },
  answerHeaders,
  errors: ['E-NOTFOUND', 'E-PRECONDITION'],
})

export const uploadContracts = [createUpload, getUpload, continueUpload, endUpload]
