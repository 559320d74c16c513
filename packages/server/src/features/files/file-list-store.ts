import {
  type CursorPage,
  decodeCursor,
  encodeCursor,
  type FileId,
  type FileSort,
  type FileStatus,
  type FileType,
  type IdTag,
  maxTotal,
  type OffsetPage,
  parseFileId,
} from '@kith/protocol'
import { type Expression, type SqlBool, sql } from 'kysely'
import { type KeysetOrder, keysetPage, type Reader, type ReadTables } from '#infra/db/index.ts'
import {
  type AccessNames,
  type AccessTables,
  inTrash,
  isReadableFile,
} from './access/file-access-predicate.ts'
import { accessNames } from './access/file-access-store.ts'
import type { FileViewer } from './access/file-viewer.ts'
import { candidatesForLists, type ListCandidates } from './access/list-candidates-predicate.ts'
import type { StoredFile } from './file.ts'
import { type FileTable, toFile } from './file-store.ts'
import { isAnyChanging } from './folders/folder-change-predicate.ts'

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
  if (listing.among?.length === 0 && cursor === undefined) return { items: [], nextCursor: null }
  const { direction, limit } = listing
  const order = orderOf(who, listing.sort)
  // A folder is sorted whole: in the order of ids SQLite would look for it among all files.
  const isEverywhere = listing.filter.place === undefined
  if (order.sort === 'recent' && direction === 'desc' && isEverywhere)
    return await listRecent(reader, who, { cursor, ...listing })
  const page = await unlessChanging(listing, (way) =>
    keysetPage(selectListed(reader, who, way), order, { direction, limit, cursor }),
  )
  return { items: page.items.map((row) => toListed(who, row)), nextCursor: page.nextCursor }
}

/** Reads without regard to folders that are being changed, of which there are hardly ever any: by a statement that
 * answers nothing while there are. Where it answers nothing the other is asked. */
async function unlessChanging<Read extends { readonly items: readonly unknown[] }>(
  listing: BoundedListing,
  read: (way: BoundedListing) => Promise<Read>,
): Promise<Read> {
  const found = await read({ ...listing, withoutChanges: true })
  return found.items.length > 0 ? found : await read(listing)
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
  const lastUnread = unreadIdOf(cursor)
  // NOTE: a comparison, and not `is not null`, tells SQLite that it can begin with what was read.
  const read = (way: BoundedListing) => selectListed(reader, who, way).where('recent.added_at', '>=', 0)
  const begin =
    lastUnread === undefined
      ? await unlessChanging(listing, (way) => keysetPage(read(way), order, { direction, limit, cursor }))
      : { items: [], nextCursor: null }
  const items = begin.items.map((row) => toListed(who, row))
  if (begin.nextCursor !== null) return { items, nextCursor: begin.nextCursor }
  const { items: rows } = await unlessChanging(listing, async (way) => ({
    items: await selectListed(reader, who, way)
      .where('recent.added_at', 'is', null)
      .$if(lastUnread !== undefined, (query) => query.where('files.file_id', '<', lastUnread ?? ''))
      .orderBy('files.file_id', 'desc')
      .limit(limit - items.length + 1)
      .execute(),
  }))
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
  if (listing.among?.length === 0) return { items: [], total: 0, offset, limit }
  const { column, idColumn } = orderOf(who, sort)
  const nulls = sql.raw(direction === 'asc' ? 'nulls first' : 'nulls last')
  const { items } = await unlessChanging(listing, async (way) => ({
    items: await selectListed(reader, who, way)
      .orderBy(sql`${column} ${sql.raw(direction)} ${nulls}`)
      .orderBy(idColumn, direction)
      .limit(limit)
      .offset(offset)
      .execute(),
  }))
  const total =
    (await countFiles(reader, who, { ...listing, withoutChanges: true })) ||
    (await countFiles(reader, who, listing))
  return { items: items.map((row) => toListed(who, row)), total, offset, limit }
}

async function countFiles(reader: Reader, who: FileViewer, listing: BoundedListing): Promise<number> {
  const rows = readable(reader, who, listing).select(sql<number>`1`.as('one')).limit(maxTotal)
  const { total } = await reader
    .tables<ListTables>()
    .selectFrom(rows.as('counted'))
    .select((row) => row.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow()
  return Number(total)
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
  readonly candidates: ListCandidates | undefined
  /** Where the viewer may read few files: those, and some more. */
  readonly among: readonly string[] | undefined
  readonly withoutChanges?: true
}

const manyFiles = 1_000
// So few are sorted sooner than they are met in the order of all files, and each may be asked for its shares.
const fewFiles = 50

/** Who may read few files of many does not have all of them looked at; of many, a page in their order is found soon. */
async function withCandidates(
  reader: Reader,
  who: FileViewer,
  listing: FileListing,
): Promise<BoundedListing> {
  const { now, maxCandidates = manyFiles } = listing
  const candidates = candidatesForLists(who, accessNames(reader, who, now))
  if (!candidates) return { ...listing, candidates, among: undefined }
  const rows = await withGranted(reader, candidates)
    .selectFrom(sql<{ file_id: string }>`(${candidates.query})`.as('candidate'))
    .select('candidate.file_id')
    .limit(maxCandidates + 1)
    .execute()
  if (rows.length > maxCandidates) return { ...listing, candidates, among: undefined }
  const among = [...new Set(rows.map(({ file_id }) => file_id))]
  return { ...listing, candidates: among.length > fewFiles ? candidates : undefined, among }
}

function readable(reader: Reader, who: FileViewer, listing: BoundedListing) {
  const { candidates, among, withoutChanges } = listing
  const names = namesOf(reader, who, listing)
  const conditions = [
    isAmong(reader, among),
    ...(withoutChanges ? [sql<SqlBool>`not ${isAnyChanging(names.tenantId)}`] : []),
    ...conditionsOf(names, listing),
    isReadableFile(who, names),
  ]
  return withGranted(reader, candidates)
    .selectFrom('files')
    .where(sql.join(conditions, sql` and `) as Condition)
}

function namesOf(
  reader: Reader,
  who: FileViewer,
  { now, candidates, withoutChanges }: BoundedListing,
): AccessNames {
  return {
    ...accessNames(reader, who, now),
    ...(withoutChanges && { withoutChanges }),
    ...(candidates && { granted: sql`granted` }),
  }
}

function withGranted(
  reader: Reader,
  candidates: ListCandidates | undefined,
): Pick<ReadTables<ListTables>, 'selectFrom'> {
  const tables = reader.tables<ListTables>()
  return candidates ? tables.withRecursive('granted(file_id)', () => sql`(${candidates.granted})`) : tables
}

function selectListed(reader: Reader, who: FileViewer, listing: BoundedListing) {
  const tag = who.viewer.idTag ?? ''
  const names = namesOf(reader, who, listing)
  // NOTE: a literal, since an index holds one collection alone: SQLite plans a statement that binds the name at each use.
  const noted = (alias: string, collection: string) => sql<SqlBool>`
    ${sql.ref(`${alias}.tenant_id`)} = ${reader.tenantId} and ${sql.ref(`${alias}.id_tag`)} = ${tag}
    and ${sql.ref(`${alias}.collection`)} = ${sql.lit(collection)} and ${sql.ref(`${alias}.item_id`)} = files.file_id`
  return readable(reader, who, listing)
    .leftJoin('collection_items as recent', (join) => join.on(noted('recent', 'RCNT')))
    .leftJoin('collection_items as pinned', (join) => join.on(noted('pinned', 'PIND')))
    .leftJoin('collection_items as starred', (join) => join.on(noted('starred', 'FAVR')))
    .selectAll('files')
    .select([
      sql<number>`case when ${inTrash('files', names)} then 1 else 0 end`.as('is_in_trash'),
      'recent.added_at as accessed_at',
      sql<number>`case when pinned.item_id is null then 0 else 1 end`.as('is_pinned'),
      sql<number>`case when starred.item_id is null then 0 else 1 end`.as('is_starred'),
    ])
}

function conditionsOf(names: AccessNames, listing: BoundedListing): Condition[] {
  const { fileTps, contentType, tags, place } = listing.filter
  return [
    hasStatus(names, listing),
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

/** NOTE: few are named with the tenant, since SQLite follows the order of an index else, past all other files. */
function isAmong({ tenantId }: Reader, fileIds: readonly string[] | undefined): Condition {
  const isOfTenant = sql<SqlBool>`files.tenant_id = ${tenantId}`
  if (!fileIds) return isOfTenant
  if (fileIds.length === 0 || fileIds.length > fewFiles)
    return sql<SqlBool>`(${isOfTenant} and ${oneOf('files.file_id', fileIds)})`
  const keys = fileIds.map((fileId) => sql`(cast(${tenantId} as bigint), ${fileId})`)
  return sql<SqlBool>`(files.tenant_id, files.file_id) in (values ${sql.join(keys)})`
}

/** NOTE: the conditions of the indexes stand here word for word. */
function hasStatus(names: AccessNames, { filter, withoutChanges }: BoundedListing): Condition {
  const { place, statuses } = filter
  if (place === 'trash') return sql<SqlBool>`files.status = 'D'`
  const live = statuses?.filter((status) => status !== 'D')
  const isOne = live ? oneOf('files.status', live) : sql`true`
  const isTrashed = inTrash('files', names)
  const isLive = sql<SqlBool>`(files.status <> 'D' and ${isOne} and ${withoutChanges ? sql`true` : sql`not ${isTrashed}`})`
  if (!statuses?.includes('D')) return isLive
  return live?.length === 0 ? isTrashed : sql<SqlBool>`(${isTrashed} or ${isLive})`
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
