import type { ActionId, CollectionType, CursorPage, FileId, IdTag, OffsetPage } from '@kith/protocol'
import { type SqlBool, sql } from 'kysely'
import { isLive, isReadableBy } from '#features/relations/index.ts'
import { keysetPage, type Reader, type Writer } from '#infra/db/index.ts'
import { type AccessTables, isReadableFile } from '../access/file-access-predicate.ts'
import { accessNames } from '../access/file-access-store.ts'
import type { FileViewer } from '../access/file-viewer.ts'

type CollectionTables = AccessTables & {
  collection_items: {
    tenant_id: number
    id_tag: string
    collection: string
    item_id: string
    added_at: number
  }
}

/** Something in somebody's collection. */
export interface StoredItem {
  readonly itemId: string
  /** Unix seconds. */
  readonly addedAt: number
}

interface Place {
  readonly idTag: IdTag
  readonly collection: CollectionType
}

/** Adds an item, or finds it there; answers since when it is. */
export async function putItem(
  tx: Writer,
  { idTag, collection, itemId }: Place & { readonly itemId: string },
  now: number,
): Promise<number> {
  const tables = tx.tables<CollectionTables>()
  const key = { tenant_id: tx.tenantId, id_tag: idTag, collection, item_id: itemId }
  const { added_at } = await tables
    .insertInto('collection_items')
    .values({ ...key, added_at: now })
    .onConflict((conflict) =>
      conflict
        .columns(['tenant_id', 'id_tag', 'collection', 'item_id'])
        .doUpdateSet((row) => ({ added_at: row.ref('collection_items.added_at') })),
    )
    .returning('added_at')
    .executeTakeFirstOrThrow()
  return added_at
}

export async function removeItem(
  tx: Writer,
  { idTag, collection, itemId }: Place & { readonly itemId: string },
): Promise<void> {
  await tx
    .tables<CollectionTables>()
    .deleteFrom('collection_items')
    .where('tenant_id', '=', tx.tenantId)
    .where('id_tag', '=', idTag)
    .where('collection', '=', collection)
    .where('item_id', '=', itemId)
    .execute()
}

const keptReads = 200

/** Notes that somebody has read a file, and forgets what they read long ago. */
export async function putRead(tx: Writer, idTag: IdTag, fileId: FileId, now: number): Promise<void> {
  const tables = tx.tables<CollectionTables>()
  const place = { tenant_id: tx.tenantId, id_tag: idTag, collection: 'RCNT' }
  await tables
    .insertInto('collection_items')
    .values({ ...place, item_id: fileId, added_at: now })
    .onConflict((conflict) =>
      conflict
        .columns(['tenant_id', 'id_tag', 'collection', 'item_id'])
        .doUpdateSet((row) => ({ added_at: row.ref('excluded.added_at') })),
    )
    .execute()
  await tables
    .deleteFrom('collection_items')
    .where('tenant_id', '=', tx.tenantId)
    .where('id_tag', '=', idTag)
    .where('collection', '=', 'RCNT')
    .where('item_id', 'in', (query) =>
      query
        .selectFrom('collection_items as read')
        .select('read.item_id')
        .where('read.tenant_id', '=', tx.tenantId)
        .where('read.id_tag', '=', idTag)
        .where('read.collection', '=', 'RCNT')
        .orderBy('read.added_at', 'desc')
        .orderBy('read.item_id', 'desc')
        .limit(1_000)
        .offset(keptReads),
    )
    .execute()
}

// The number of values in one statement is limited.
const idsPerStatement = 500

/** Takes items out of everybody's collections. */
export async function removeItems(tx: Writer, itemIds: readonly string[]): Promise<void> {
  for (let start = 0; start < itemIds.length; start += idsPerStatement)
    await tx
      .tables<CollectionTables>()
      .deleteFrom('collection_items')
      .where('tenant_id', '=', tx.tenantId)
      .where('item_id', 'in', itemIds.slice(start, start + idsPerStatement))
      .execute()
}

interface CollectionListing extends Place {
  readonly who: FileViewer
  readonly limit: number
  readonly now: number
}

/** A page of the items that the viewer may still read, the newest first; what is in the trash comes back with it. */
export async function listItemPage(
  reader: Reader,
  { cursor, ...listing }: CollectionListing & { readonly cursor: string | undefined },
): Promise<CursorPage<StoredItem>> {
  const order = {
    sort: 'added',
    column: sql.ref<number>('item.added_at'),
    kind: 'integer',
    idColumn: sql.ref<string>('item.item_id'),
    idKind: 'text',
  } as const
  const { limit } = listing
  const page = await keysetPage(selectItems(reader, listing), order, { direction: 'desc', cursor, limit })
  return { ...page, items: page.items.map(toItem) }
}

/** The same by number, with how many there are. */
export async function listItemsFrom(
  reader: Reader,
  { offset, ...listing }: CollectionListing & { readonly offset: number },
): Promise<OffsetPage<StoredItem>> {
  const { limit } = listing
  const rows = await selectItems(reader, listing)
    .orderBy('item.added_at', 'desc')
    .orderBy('item.item_id', 'desc')
    .limit(limit)
    .offset(offset)
    .execute()
  const { total } = await readableItems(reader, listing)
    .select((row) => row.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow()
  return { items: rows.map(toItem), total: Number(total), offset, limit }
}

function selectItems(reader: Reader, listing: CollectionListing) {
  return readableItems(reader, listing).select(['item.item_id', 'item.added_at'])
}

function readableItems(reader: Reader, { idTag, collection, who, now }: CollectionListing) {
  const names = accessNames(reader, who, now)
  const isReadable = sql<SqlBool>`(files.file_id is not null and files.status <> 'D' and ${isReadableFile(who, names)})
    or (marked.action_id is not null and ${isLive('marked', names.now)} and ${isReadableBy(who.viewer, 'marked', names)})`
  return reader
    .tables<CollectionTables>()
    .selectFrom('collection_items as item')
    .leftJoin('files', (join) =>
      join.onRef('files.tenant_id', '=', 'item.tenant_id').onRef('files.file_id', '=', 'item.item_id'),
    )
    .leftJoin('actions as marked', (join) =>
      join.onRef('marked.tenant_id', '=', 'item.tenant_id').onRef('marked.action_id', '=', 'item.item_id'),
    )
    .where('item.tenant_id', '=', reader.tenantId)
    .where('item.id_tag', '=', idTag)
    .where('item.collection', '=', collection)
    .where(sql<SqlBool>`(${isReadable})`)
}

function toItem({ item_id, added_at }: { item_id: string; added_at: number }): StoredItem {
  return { itemId: item_id, addedAt: added_at }
}

/** What a caller has noted about a file for itself. */
export interface UserData {
  readonly isPinned: boolean
  readonly isStarred: boolean
  /** When it last read the bytes, Unix seconds. */
  readonly accessedAt: number | undefined
}

export async function findUserData(reader: Reader, idTag: IdTag, fileId: FileId): Promise<UserData> {
  const rows = await reader
    .tables<CollectionTables>()
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

/** May the viewer read this action, as far as collections are concerned? */
export async function isReadableAction(
  reader: Reader,
  who: FileViewer,
  { actionId, now }: { readonly actionId: ActionId; readonly now: number },
): Promise<boolean> {
  const names = accessNames(reader, who, now)
  const row = await reader
    .tables<CollectionTables>()
    .selectFrom('actions')
    .select('action_id')
    .where('tenant_id', '=', reader.tenantId)
    .where('action_id', '=', actionId)
    .where(isLive('actions', names.now))
    .where(isReadableBy(who.viewer, 'actions', names))
    .executeTakeFirst()
  return row !== undefined
}
