import Type, { type Static } from 'typebox'
import { contract } from '../contract.ts'
import { FileIdParam, IsoTime, Nullable, pageQuery, TimestampInput, Words } from '../schemas.ts'

const tag = 'Shares'

/** `U` an identity, `L` a link, `F` the readers of another file. */
export const shareSubjects = ['U', 'L', 'F'] as const
export type ShareSubject = (typeof shareSubjects)[number]
/** `R` read, `W` write, `A` administer. */
export const sharePermissions = ['R', 'W', 'A'] as const
export type SharePermission = (typeof sharePermissions)[number]

/** With whom a file is shared, and for what (docs/protocol/sharing.md). */
export const ShareView = Type.Object({
  id: Type.Integer(),
  resourceType: Type.Literal('F'),
  resourceId: Type.String(),
  subjectType: Words(shareSubjects, {
    description: '`U` an identity, `L` a link, `F` the readers of another file',
  }),
  subjectId: Type.String(),
  permission: Words(sharePermissions, { description: '`R` read, `W` write, `A` share as well' }),
  expiresAt: Nullable(IsoTime),
  createdBy: Type.String(),
  createdAt: IsoTime,
  refId: Type.Optional(
    Type.String({ description: 'Of a link: its reference, for a caller who may manage it' }),
  ),
  url: Type.Optional(Type.String({ description: 'Of a link, together with `refId`' })),
})
export type ShareView = Static<typeof ShareView>

const fileParam = Type.Object({ fileId: FileIdParam })

export const listFileShares = contract({
  name: 'listFileShares',
  method: 'GET',
  path: '/api/files/{fileId}/shares',
  tag,
  summary: 'With whom a file is shared',
  auth: 'required',
  scope: 'admin:files',
  params: fileParam,
  reply: { kind: 'data', status: 200, schema: Type.Array(ShareView) },
  errors: ['E-AUTH-FORBIDDEN', 'E-FILE-NOTFOUND'],
})

export const createShare = contract({
  name: 'createShare',
  method: 'POST',
  path: '/api/files/{fileId}/shares',
  tag,
  summary: 'Share a file, or a folder with its content',
  description:
    'Needs write access; a share cannot give more than the caller has. A second share for the same subject changes the first and answers 200.',
  auth: 'required',
  scope: 'admin:files',
  params: fileParam,
  body: {
    kind: 'json',
    schema: Type.Object({
      subjectType: Words(shareSubjects),
      subjectId: Type.String({
        minLength: 1,
        maxLength: 253,
        description: 'An identity, a label for the link, or a file id',
      }),
      permission: Words(sharePermissions),
      expiresAt: Type.Optional(TimestampInput),
    }),
  },
  reply: { kind: 'data', status: 201, schema: ShareView },
  errors: ['E-AUTH-FORBIDDEN', 'E-FILE-NOTFOUND', 'E-STATE'],
  example: { body: { subjectType: 'U', subjectId: 'bob.example.com', permission: 'R' } },
})

export const deleteShare = contract({
  name: 'deleteShare',
  method: 'DELETE',
  path: '/api/files/{fileId}/shares/{shareId}',
  tag,
  summary: 'End a share, and the shares that its subject made because of it',
  auth: 'required',
  scope: 'admin:files',
  params: Type.Object({
    fileId: FileIdParam,
    shareId: Type.String({ description: 'The id of a share of the file' }),
  }),
  reply: { kind: 'data', status: 200, schema: Type.Null() },
  errors: ['E-AUTH-FORBIDDEN', 'E-FILE-NOTFOUND', 'E-NOTFOUND'],
})

export const listShares = contract({
  name: 'listShares',
  method: 'GET',
  path: '/api/shares',
  tag,
  summary: 'The shares of a subject: the caller’s own, or those of files that the caller may write',
  auth: 'required',
  scope: 'admin:files',
  query: Type.Object({
    subjectId: Type.String({
      minLength: 1,
      maxLength: 253,
      description: 'With whom: an identity, a label of a link, or a file id',
    }),
    subjectType: Type.Optional(Words(shareSubjects, { description: 'What `subjectId` is' })),
    ...pageQuery,
  }),
  reply: { kind: 'list', status: 200, schema: ShareView },
  errors: [],
})

export const shareContracts = [listFileShares, createShare, deleteShare, listShares]
