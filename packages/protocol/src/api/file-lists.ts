import Type, { type Static } from 'typebox'
import { contract } from '../contract.ts'
import { fileTypes } from '../ids.ts'
import { CommaList, filteredPageQuery, sortDirection, Words, WorldTimeInput } from '../schemas.ts'
import { FileView, fileStatuses } from './files.ts'

const tag = 'Files'

export const fileSorts = ['created', 'modified', 'name', 'recent', 'size', 'taken'] as const
export type FileSort = (typeof fileSorts)[number]

/** Whose files there are: copies of what others sent or shared are `received`. */
export const fileOrigins = ['own', 'received'] as const
export type FileOrigin = (typeof fileOrigins)[number]

// A picture without a time of its own stands in a grid where it was uploaded.
const takenTime = (description: string) => ({
  ...WorldTimeInput,
  description: `${description}: compared to \`takenAt\`, and to \`createdAt\` of files without it. ISO 8601 with a zone, or Unix seconds, from the year 1 on`,
})

const fileFilter = {
  fileTp: Type.Optional(CommaList(fileTypes)),
  contentType: Type.Optional(
    Type.String({ maxLength: 127, description: 'Exact, or a prefix with `*` at the end' }),
  ),
  tags: Type.Optional(CommaList()),
  origin: Type.Optional(
    Words(fileOrigins, {
      description:
        '`received`: copies of files that others sent or shared, whose original another identity has (`x.home`); `own`: without these; both when absent',
    }),
  ),
  parentId: Type.Optional(
    Type.String({
      description: 'A folder, `__root__` for files in no folder, or `__trash__`; all when absent',
    }),
  ),
  status: Type.Optional(CommaList(fileStatuses)),
  search: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      description: 'At most 10 words that all stand in the name, anywhere; without case and accents',
    }),
  ),
  takenAfter: Type.Optional(takenTime('From this time on, itself included')),
  takenBefore: Type.Optional(takenTime('Up to this time, itself not included')),
}

export const listFiles = contract({
  name: 'listFiles',
  method: 'GET',
  path: '/api/files',
  tag,
  summary: 'The files that the caller may read',
  auth: 'optional',
  gateway: true,
  scope: 'read:files',
  guests: true,
  query: Type.Object({
    ...fileFilter,
    sort: Type.Optional(
      Words(fileSorts, {
        description:
          '`created` when absent; `recent`: by when the caller last read it; `size`: the largest first; `taken`: by `takenAt`, and `createdAt` of files without it',
      }),
    ),
    sortDir: Type.Optional(sortDirection),
    ...filteredPageQuery,
  }),
  reply: { kind: 'list', status: 200, schema: FileView },
  errors: [],
})

/** More files than these are not looked at for a timeline. */
export const maxTimelineFiles = 100_000

/** How many files are of a month. */
export const MonthCount = Type.Object({
  month: Type.String({ description: 'In UTC', examples: ['2026-01'] }),
  count: Type.Integer({ minimum: 1 }),
})
export type MonthCount = Static<typeof MonthCount>

export const getFileTimeline = contract({
  name: 'getFileTimeline',
  method: 'GET',
  path: '/api/files/timeline',
  tag,
  summary: 'How many files the caller may read of each month, the newest month first',
  description: `The months, in UTC, of \`takenAt\`, and of \`createdAt\` where a file has none; months without files are left out. The filter is that of \`GET /api/files\`. Of more than ${maxTimelineFiles} files the newest that many are looked at: ask again with \`takenBefore\` for older ones.`,
  auth: 'optional',
  gateway: true,
  scope: 'read:files',
  guests: true,
  query: Type.Object(fileFilter),
  reply: { kind: 'data', status: 200, schema: Type.Array(MonthCount) },
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
  gateway: true,
  scope: 'read:files',
  query: Type.Object({
    prefix: Type.Optional(
      Type.String({ maxLength: 64, description: 'How the tags begin, without case and accents' }),
    ),
    withCounts: Type.Optional(Type.Boolean({ description: 'With the number of files that have each' })),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 200, default: 200, description: 'Tags at most' }),
    ),
  }),
  reply: { kind: 'data', status: 200, schema: Type.Array(TagView) },
  errors: [],
})

export const fileListContracts = [listFiles, getFileTimeline, listTags]
