import Type, { type Static } from 'typebox'
import { contract } from '../contract.ts'
import { fileTypes } from '../ids.ts'
import { CommaList, filteredPageQuery, sortDirection, Words } from '../schemas.ts'
import { FileView, fileStatuses } from './files.ts'

const tag = 'Files'

export const fileSorts = ['created', 'modified', 'name', 'recent'] as const
export type FileSort = (typeof fileSorts)[number]

export const listFiles = contract({
  name: 'listFiles',
  method: 'GET',
  path: '/api/files',
  tag,
  summary: 'The files that the caller may read',
  auth: 'optional',
  scope: 'read:files',
  guests: true,
  query: Type.Object({
    fileTp: Type.Optional(CommaList(fileTypes)),
    contentType: Type.Optional(
      Type.String({ maxLength: 127, description: 'Exact, or a prefix with `*` at the end' }),
    ),
    tags: Type.Optional(CommaList()),
    parentId: Type.Optional(
      Type.String({
        description: 'A folder, `__root__` for files in no folder, or `__trash__`; all when absent',
      }),
    ),
    status: Type.Optional(CommaList(fileStatuses)),
    sort: Type.Optional(
      Words(fileSorts, { description: '`created` when absent; `recent`: by when the caller last read it' }),
    ),
    sortDir: Type.Optional(sortDirection),
    ...filteredPageQuery,
  }),
  reply: { kind: 'list', status: 200, schema: FileView },
  errors: [],
})

/** `count`: how many of the caller's files have it. */
export const TagView = Type.Object({ tag: Type.String(), count: Type.Optional(Type.Integer()) })
export type TagView = Static<typeof TagView>

export const listTags = contract({
  name: 'listTags',
  method: 'GET',
  path: '/api/tags',
  tag,
  summary: 'The tags of the caller’s own files, in their order',
  auth: 'required',
  scope: 'read:files',
  query: Type.Object({
    prefix: Type.Optional(Type.String({ maxLength: 64 })),
    withCounts: Type.Optional(Type.Boolean()),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 200 })),
  }),
  reply: { kind: 'data', status: 200, schema: Type.Array(TagView) },
  errors: [],
})

export const fileListContracts = [listFiles, listTags]
