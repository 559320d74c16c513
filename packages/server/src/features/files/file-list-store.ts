import {
  type CursorPage,
  decodeCursor,
  encodeCursor,
  type FileId,
  type FileSort,
  type FileStatus,
  type FileType,
  type IdTag,
  type OffsetPage,
  parseFileId,
} from '@kith/protocol'
import { type Expression, type SqlBool, sql } from 'kysely'
import { type KeysetOrder, keysetPage, type Reader, type ReadTables } from '#infra/db/index.ts'
import type { AccessTables } from './access/file-access-predicate.ts'
import { accessNames } from './access/file-access-store.ts'
import type { FileViewer } from './access/file-viewer.ts'
import { candidatesForLists, type ListTable, readableInLists } from './access/listed-files-predicate.ts'
import type { StoredFile } from './file.ts'
import { type FileTable, type FileTables, toFile } from './file-store.ts'
import { isInTrash, listed } from './folders/folder-change-predicate.ts'

/** What a caller has noted about a file for itself. */
export interface UserData {
  readonly isPinned: boolean
  readonly isStarred: boolean
  /** When it last read the bytes, Unix seconds. */
  readonly accessedAt: number | undefined
}

export interface ListedFile {
  readonly file: StoredFile
  /** Undefined for whoever has no identity. */
  readonly userData: UserData | undefined
}

export interface FileFilter {
  readonly fileTps?: readonly FileType[]
  /** Exact, or with a final `*` the beginning. */
  readonly contentType?: string
  /** Any of them. */
  readonly tags?: readonly string[]
  readonly place?: 'root' | 'trash' | { readonly parentId: FileId }
  readonly statuses?: readonly FileStatus[]
}

export interface FileListing {
  readonly filter: FileFilter
  readonly sort: FileSort
  readonly direction: 'asc' | 'desc'
  readonly limit: number
  /** Unix seconds. */
  readonly now: number
  /** How many files may be looked at one by one, before all are in their order; a thousand when absent. */
  readonly maxCandidates?: number
}

type ListTables = AccessTables & {
  collection_items: {
    tenant_id: number
    id_tag: string
    collection: string
    item_id: string
    added_at: number
  }
}
type ListedRow = FileTable & {
  is_in_trash: number
  accessed_at: number | null
  is_pinned: number
  is_starred: number
}
type Condition = Expression<SqlBool>

/** A page of the files that the viewer may read. */
export async function listFilePage(
  reader: Reader,
  who: FileViewer,
  { cursor, ...asked }: FileListing & { readonly cursor: string | undefined },
): Promise<CursorPage<ListedFile>> {
  const listing = await withCandidates(reader, who, asked)
  const { direction, limit } = listing
  const order = orderOf(who, listing.sort)
  // A folder is sorted whole: in the order of ids SQLite would look for it among all files.
  const isEverywhere = listing.filter.place === undefined
  if (order.sort === 'recent' && direction === 'desc' && isEverywhere)
    return await listRecent(reader, who, { cursor, ...listing })
  const page = await keysetPage(selectListed(reader, who, listing), order, { direction, limit, cursor })
  return { items: page.items.map((row) => toListed(who, row)), nextCursor: page.nextCursor }
}

/** What the caller has read, which is little, the last first; then everything else by its id. Together they would have to
 * be sorted, however many files there are. */
async function listRecent(
  reader: Reader,
  who: FileViewer,
  { cursor, ...listing }: BoundedListing & { readonly cursor: string | undefined },
): Promise<CursorPage<ListedFile>> {
  const { direction, limit } = listing
  const order = { ...orderOf(who, 'recent'), isNullable: false }
  const listed = selectListed(reader, who, listing)
  const lastUnread = unreadIdOf(cursor)
  // NOTE: a comparison, and not `is not null`, tells SQLite that it can begin with what was read.
  const read = listed.where('recent.added_at', '>=', 0)
  const begin =
    lastUnread === undefined
      ? await keysetPage(read, order, { direction, limit, cursor })
      : { items: [], nextCursor: null }
  const items = begin.items.map((row) => toListed(who, row))
  if (begin.nextCursor !== null) return { items, nextCursor: begin.nextCursor }
  const rows = await listed
    .where('recent.added_at', 'is', null)
    .$if(lastUnread !== undefined, (query) => query.where('files.file_id', '<', lastUnread ?? ''))
    .orderBy('files.file_id', 'desc')
    .limit(limit - items.length + 1)
    .execute()
  const all = [...items, ...rows.map((row) => toListed(who, row))]
  const last = [...begin.items, ...rows].at(limit - 1)
  const nextCursor =
    all.length > limit && last ? encodeCursor({ s: order.sort, v: last.accessed_at, id: last.file_id }) : null
  return { items: all.slice(0, limit), nextCursor }
}

/** The file after which a page begins, if it is none of those that were read. */
function unreadIdOf(cursor: string | undefined): string | undefined {
  const place = cursor === undefined ? undefined : decodeCursor(cursor, 'recent')
  return place?.v === null && typeof place.id === 'string' && parseFileId(place.id) ? place.id : undefined
}

/** The same by number, with how many there are. */
export async function listFilesFrom(
  reader: Reader,
  who: FileViewer,
  { offset, ...asked }: FileListing & { readonly offset: number },
): Promise<OffsetPage<ListedFile>> {
  const listing = await withCandidates(reader, who, asked)
  const { direction, limit, sort } = listing
  const { column, idColumn } = orderOf(who, sort)
  const nulls = sql.raw(direction === 'asc' ? 'nulls first' : 'nulls last')
  const rows = await selectListed(reader, who, listing)
    .orderBy(sql`${column} ${sql.raw(direction)} ${nulls}`)
    .orderBy(idColumn, direction)
    .limit(limit)
    .offset(offset)
    .execute()
  const { total } = await readable(reader, who, listing)
    .select((row) => row.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow()
  return { items: rows.map((row) => toListed(who, row)), total: Number(total), offset, limit }
}

const sortColumns = {
  created: { column: 'files.created_at', kind: 'integer' },
  modified: { column: 'files.modified_at', kind: 'integer' },
  name: { column: 'files.file_name', kind: 'text' },
  recent: { column: 'recent.added_at', kind: 'integer', isNullable: true },
} as const

function orderOf({ viewer }: FileViewer, sort: FileSort): KeysetOrder<Expression<string | number | null>> {
  // Nothing is noted for whoever has no identity.
  const known = viewer.idTag === undefined && sort === 'recent' ? 'created' : sort
  const { column, ...rest } = sortColumns[known]
  return {
    sort: known,
    ...rest,
    column: sql.ref(column),
    idColumn: sql.ref('files.file_id'),
    idKind: 'text',
  }
}

interface BoundedListing extends FileListing {
  /** Where the viewer may read few files: those, and some more. */
  readonly candidates: readonly string[] | undefined
}

const manyFiles = 1_000

/** Who may read few files of many does not have all of them looked at; of many, a page in their order is found soon. */
async function withCandidates(
  reader: Reader,
  who: FileViewer,
  listing: FileListing,
): Promise<BoundedListing> {
  const { now, maxCandidates = manyFiles } = listing
  const found = candidatesForLists(who, accessNames(reader, who, now))
  if (!found) return { ...listing, candidates: undefined }
  const rows = await withTables(reader, found.tables)
    .selectFrom(sql<{ file_id: string }>`(${found.query})`.as('candidate'))
    .select('candidate.file_id')
    .limit(maxCandidates + 1)
    .execute()
  const candidates =
    rows.length > maxCandidates ? undefined : [...new Set(rows.map(({ file_id }) => file_id))]
  return { ...listing, candidates }
}

function readable(reader: Reader, who: FileViewer, { filter, now, candidates }: BoundedListing) {
  const { tables, isReadable } = readableInLists(who, accessNames(reader, who, now))
  const conditions = [
    sql<SqlBool>`files.tenant_id = ${reader.tenantId}`,
    ...(candidates ? [oneOf('files.file_id', candidates)] : []),
    ...conditionsOf(reader, filter),
    isReadable,
  ]
  return withTables(reader, tables)
    .selectFrom('files')
    .where(sql.join(conditions, sql` and `) as Condition)
}

function withTables(reader: Reader, tables: readonly ListTable[]) {
  let creator: Pick<ReadTables<ListTables>, 'selectFrom' | 'withRecursive'> = reader.tables<ListTables>()
  for (const { name, query } of tables) creator = creator.withRecursive(name, () => sql`(${query})`)
  return creator
}

function selectListed(reader: Reader, who: FileViewer, listing: BoundedListing) {
  const tag = who.viewer.idTag ?? ''
  const noted = (alias: string, collection: string) => sql<SqlBool>`
    ${sql.ref(`${alias}.tenant_id`)} = ${reader.tenantId} and ${sql.ref(`${alias}.id_tag`)} = ${tag}
    and ${sql.ref(`${alias}.collection`)} = ${collection} and ${sql.ref(`${alias}.item_id`)} = files.file_id`
  return readable(reader, who, listing)
    .leftJoin('collection_items as recent', (join) => join.on(noted('recent', 'RCNT')))
    .leftJoin('collection_items as pinned', (join) => join.on(noted('pinned', 'PIND')))
    .leftJoin('collection_items as starred', (join) => join.on(noted('starred', 'FAVR')))
    .selectAll('files')
    .select([
      isTrashed(listing.filter).as('is_in_trash'),
      'recent.added_at as accessed_at',
      sql<number>`case when pinned.item_id is null then 0 else 1 end`.as('is_pinned'),
      sql<number>`case when starred.item_id is null then 0 else 1 end`.as('is_starred'),
    ])
}

function conditionsOf(reader: Reader, filter: FileFilter): Condition[] {
  const { fileTps, contentType, tags, place } = filter
  return [
    hasStatus(reader, filter),
    ...(place === undefined ? [] : [isIn(place)]),
    ...(fileTps ? [oneOf('files.file_tp', fileTps)] : []),
    ...(contentType === undefined ? [] : [hasType(contentType)]),
    ...(tags
      ? [
          sql<SqlBool>`exists (select 1 from file_tags where file_tags.tenant_id = files.tenant_id
            and file_tags.file_id = files.file_id and ${oneOf('file_tags.tag', tags)})`,
        ]
      : []),
  ]
}

/** Of the files that a filter lets through. */
function isTrashed({ place, statuses }: FileFilter) {
  if (place === 'trash') return sql<number>`1`
  if (!statuses?.includes('D')) return sql<number>`0`
  const isInChange = listed.isInChange('files')
  return sql<number>`case when files.status = 'D' or ${isInChange} then 1 else 0 end`
}

/** NOTE: the conditions of the indexes stand here word for word. */
function hasStatus({ tenantId }: Reader, { place, statuses }: FileFilter): Condition {
  const isThere = sql<SqlBool>`not ${listed.isBeingRemoved('files')}`
  if (place === 'trash') return sql<SqlBool>`(files.status = 'D' and ${isThere})`
  const live = statuses?.filter((status) => status !== 'D')
  const isOne = live ? oneOf('files.status', live) : sql<SqlBool>`true`
  const isLive = sql<SqlBool>`(files.status <> 'D' and ${isOne} and not ${listed.isInChange('files')})`
  if (!statuses?.includes('D')) return isLive
  // Each branch names the columns of an index.
  const isOf = sql<SqlBool>`files.tenant_id = ${tenantId}`
  const changing = sql<SqlBool>`${isOf} and files.status <> 'D' and files.parent_id in (select file_id from changing)`
  const trashed = sql`(${isOf} and files.status = 'D') or (${changing})`
  const wanted = live?.length === 0 ? trashed : sql`${trashed} or ${isLive}`
  return sql<SqlBool>`((${wanted}) and ${isThere})`
}

function oneOf(column: string, values: readonly string[]): Condition {
  if (values.length === 0) return sql<SqlBool>`false`
  return sql<SqlBool>`${sql.ref(column)} in (${sql.join(values)})`
}

/** What was deleted by itself lies in no folder; what went with its folder is still in it. */
function isIn(place: NonNullable<FileFilter['place']>): Condition {
  if (typeof place === 'object') return sql<SqlBool>`files.parent_id = ${place.parentId}`
  return sql<SqlBool>`files.parent_id is null`
}

function hasType(contentType: string): Condition {
  const begins = (text: string) => sql<SqlBool>`substr(files.content_type, 1, ${[...text].length}) = ${text}`
  if (contentType.endsWith('*')) return begins(contentType.slice(0, -1))
  return sql<SqlBool>`(files.content_type = ${contentType} or ${begins(`${contentType};`)})`
}

function toListed({ viewer }: FileViewer, row: ListedRow): ListedFile {
  return { file: toFile(row), userData: viewer.idTag === undefined ? undefined : toUserData(row) }
}

function toUserData(row: Pick<ListedRow, 'accessed_at' | 'is_pinned' | 'is_starred'>): UserData {
  return {
    isPinned: row.is_pinned === 1,
    isStarred: row.is_starred === 1,
    accessedAt: row.accessed_at ?? undefined,
  }
}

/** What a caller has noted about one file. */
export async function findUserData(reader: Reader, idTag: IdTag, fileId: FileId): Promise<UserData> {
  const rows = await reader
    .tables<ListTables>()
    .selectFrom('collection_items')
    .select(['collection', 'added_at'])
    .where('tenant_id', '=', reader.tenantId)
    .where('id_tag', '=', idTag)
    .where('item_id', '=', fileId)
    .execute()
  const of = (collection: string) => rows.find((row) => row.collection === collection)
  return {
    isPinned: of('PIND') !== undefined,
    isStarred: of('FAVR') !== undefined,
    accessedAt: of('RCNT')?.added_at,
  }
}

/** The tags of somebody's files outside the trash, in their order, with how many files carry each. */
export async function listTagCounts(
  reader: Reader,
  { ownerTag, prefix, limit }: { readonly ownerTag: IdTag; readonly prefix: string; readonly limit: number },
): Promise<{ tag: string; count: number }[]> {
  const rows = await reader
    .tables<FileTables>()
    .selectFrom('file_tags')
    .innerJoin('files', (join) =>
      join
        .onRef('files.tenant_id', '=', 'file_tags.tenant_id')
        .onRef('files.file_id', '=', 'file_tags.file_id'),
    )
    .select((row) => ['file_tags.tag', row.fn.countAll<number>().as('count')])
    .where('file_tags.tenant_id', '=', reader.tenantId)
    .where('files.owner_tag', '=', ownerTag)
    .where('files.is_copy', '=', 0)
    .where((row) => row.not(isInTrash('files', sql`${reader.tenantId}`)))
    .where(sql<SqlBool>`substr(file_tags.tag, 1, ${[...prefix].length}) = ${prefix}`)
    .groupBy('file_tags.tag')
    .orderBy('file_tags.tag')
    .limit(limit)
    .execute()
  return rows.map(({ tag, count }) => ({ tag, count: Number(count) }))
}
