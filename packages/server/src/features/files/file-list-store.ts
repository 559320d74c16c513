import {
  type CursorPage,
  decodeCursor,
  encodeCursor,
  type FileSort,
  maxTotal,
  type OffsetPage,
  parseFileId,
} from '@kith/protocol'
import { type Expression, type SqlBool, sql } from 'kysely'
import { type KeysetOrder, keysetPage, type Reader } from '#infra/db/index.ts'
import { inTrash } from './access/file-access-predicate.ts'
import type { FileViewer } from './access/file-viewer.ts'
import type { UserData } from './collections/collection-store.ts'
import type { StoredFile } from './file.ts'
import {
  type Bounded,
  type FilterRequest,
  type ListTables,
  namesOf,
  selectReadable,
  takenOrCreated,
  unlessChanging,
  withCandidates,
} from './file-filter-store.ts'
import { type FileTable, toFile } from './file-store.ts'

export interface ListedFile {
  readonly file: StoredFile
  /** Undefined for whoever has no identity. */
  readonly userData: UserData | undefined
}

export interface FileListing extends FilterRequest {
  readonly sort: FileSort
  readonly direction: 'asc' | 'desc'
  readonly limit: number
}

type ListedRow = FileTable & {
  is_in_trash: number
  accessed_at: number | null
  is_pinned: number
  is_starred: number
}

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

/** What the caller has read, which is little, the last first; then everything else by its id. Together they would have to
 * be sorted, however many files there are. */
async function listRecent(
  reader: Reader,
  who: FileViewer,
  { cursor, ...listing }: Bounded<FileListing> & { readonly cursor: string | undefined },
): Promise<CursorPage<ListedFile>> {
  const { direction, limit } = listing
  const order = { ...orderOf(who, 'recent'), isNullable: false }
  const lastUnread = unreadIdOf(cursor)
  // NOTE: a comparison, and not `is not null`, tells SQLite that it can begin with what was read.
  const read = (way: Bounded<FileListing>) => selectListed(reader, who, way).where('recent.added_at', '>=', 0)
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

async function countFiles(reader: Reader, who: FileViewer, listing: Bounded<FileListing>): Promise<number> {
  const rows = selectReadable(reader, who, listing).select(sql<number>`1`.as('one')).limit(maxTotal)
  const { total } = await reader
    .tables<ListTables>()
    .selectFrom(rows.as('counted'))
    .select((row) => row.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow()
  return Number(total)
}

const sortColumns = {
  created: { column: sql.ref<number>('files.created_at'), kind: 'integer' },
  modified: { column: sql.ref<number>('files.modified_at'), kind: 'integer' },
  name: { column: sql.ref<string>('files.sort_name'), kind: 'text' },
  size: { column: sql.ref<number>('files.size'), kind: 'integer' },
  taken: { column: takenOrCreated, kind: 'integer', isExpression: true },
  recent: { column: sql.ref<number | null>('recent.added_at'), kind: 'integer', isNullable: true },
} as const

function orderOf({ viewer }: FileViewer, sort: FileSort): KeysetOrder<Expression<string | number | null>> {
  // Nothing is noted for whoever has no identity.
  const known = viewer.idTag === undefined && sort === 'recent' ? 'created' : sort
  return { sort: known, ...sortColumns[known], idColumn: sql.ref('files.file_id'), idKind: 'text' }
}

function selectListed(reader: Reader, who: FileViewer, listing: Bounded<FileListing>) {
  const tag = who.viewer.idTag ?? ''
  const names = namesOf(reader, who, listing)
  // NOTE: a literal, since an index holds one collection alone: SQLite plans a statement that binds the name at each use.
  const noted = (alias: string, collection: string) => sql<SqlBool>`
    ${sql.ref(`${alias}.tenant_id`)} = ${reader.tenantId} and ${sql.ref(`${alias}.id_tag`)} = ${tag}
    and ${sql.ref(`${alias}.collection`)} = ${sql.lit(collection)} and ${sql.ref(`${alias}.item_id`)} = files.file_id`
  return selectReadable(reader, who, listing)
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
