import type { FileId } from '@kith/protocol'
import { type RawBuilder, type SqlBool, sql, type UpdateObject } from 'kysely'
import type { Reader, Writer } from '#infra/db/index.ts'
import { type Discarder, processedTypes } from '../file.ts'
import type { FileTables } from '../file-store.ts'
import { type FolderLink, foldersAbove } from './folders-above-predicate.ts'

/** How many folders deep files may lie: what asks for access climbs through them. */
export const maxDepth = 64

/** How a file would lie in a folder: whether that is in it, and how deep the deepest below it would be. */
export async function findPlace(
  reader: Reader,
  { fileId, parentId }: { readonly fileId: FileId; readonly parentId: FileId },
): Promise<{ isCycle: boolean; depth: number }> {
  const depth = await measureAbove(reader, parentId)
  const { rows, deepest } = await measureBelow(reader, fileId, parentId)
  return { isCycle: rows > 0, depth: depth + deepest }
}

/** The folders in which a folder lies, itself included. */
export async function measureAbove(reader: Reader, folderId: FileId): Promise<number> {
  return (await listAbove(reader, folderId, 'lies')).length
}

/** A file with the folders above it; none of one that is gone. */
export async function listAbove(reader: Reader, fileId: FileId, link: FolderLink): Promise<string[]> {
  const tenantId = sql<number>`${reader.tenantId}`
  const source = sql`from files as asked where asked.tenant_id = ${tenantId} and asked.file_id = ${fileId}`
  const above = sql<{ file_id: string }>`(
    with recursive ${foldersAbove('asked', { tenantId, link, source })} select file_id from above)`
  const rows = await reader.tables<FileTables>().selectFrom(above.as('above')).selectAll().execute()
  return rows.map((row) => row.file_id)
}

/** How many levels a file with what is in it has, and whether another is among them. */
async function measureBelow(reader: Reader, fileId: FileId, sought: FileId) {
  const row = await reader
    .tables<FileTables>()
    .withRecursive('below(tenant_id, file_id, level)', (query) =>
      query
        .selectFrom('files')
        .select(['tenant_id', 'file_id', sql<number>`1`.as('level')])
        .where('tenant_id', '=', reader.tenantId)
        .where('file_id', '=', fileId)
        .unionAll(
          query
            .selectFrom('below')
            // NOTE: SQLite keeps the order of a cross join; in the other one it reads all files of the tenant for each.
            .crossJoin('files as child')
            .select(['child.tenant_id', 'child.file_id', sql<number>`below.level + 1`.as('level')])
            .where('child.tenant_id', '=', reader.tenantId)
            .whereRef('child.parent_id', '=', 'below.file_id')
            // All but the last level: a folder may have very many files.
            .where('child.file_tp', '=', sql.lit('FLDR')),
        ),
    )
    .selectFrom('below')
    .select([
      sql<number>`max(level + case when ${hasChild('live')} or ${hasChild('trashed')} then 1 else 0 end)`.as(
        'deepest',
      ),
      sql<number>`sum(case when file_id = ${sought} then 1 else 0 end)`.as('rows'),
    ])
    .executeTakeFirstOrThrow()
  return { rows: Number(row.rows), deepest: Number(row.deepest) }
}

/** Of a row of `below`. */
function hasChild(among: 'live' | 'trashed'): RawBuilder<SqlBool> {
  return sql<SqlBool>`exists (select 1 from files as child where child.tenant_id = below.tenant_id
    and child.parent_id = below.file_id and ${isAmong('child', among)})`
}

/** Puts a file into the trash by itself; what is in it follows by `trashLeaves`. */
export async function trashRoot(tx: Writer, fileId: FileId, now: number): Promise<void> {
  await update(tx, [fileId], trashedAt(now))
}

/** Keeps files in the trash, each by itself, for their owners alone. */
export async function discardRoots(
  tx: Writer,
  fileIds: readonly FileId[],
  { by, isByLink, now }: Discarder & { readonly now: number },
): Promise<void> {
  await update(tx, fileIds, {
    ...trashedAt(now),
    discarded_at: now,
    discarded_by: by ?? null,
    discarded_by_link: isByLink ? 1 : 0,
  })
}

function trashedAt(now: number): UpdateObject<FileTables, 'files'> {
  return {
    status: 'D',
    deleted_at: sql`coalesce(deleted_at, ${now})`,
    original_parent_id: sql`coalesce(parent_id, original_parent_id)`,
    parent_id: null,
  }
}

/** Puts some of what is in a folder into the trash, the innermost first; answers how much. */
export async function trashLeaves(
  tx: Writer,
  folderId: FileId,
  { now, limit }: { readonly now: number; readonly limit: number },
): Promise<number> {
  const fileIds = await listLeavesIn(tx, folderId, { among: 'live', limit })
  await update(tx, fileIds, { status: 'D', deleted_at: now })
  return fileIds.length
}

export interface Restored {
  readonly files: number
  /** The pictures among them whose variants were not made yet: they are `M`. */
  readonly unmade: readonly FileId[]
}

/** Takes some of what is in a folder out of the trash, the innermost first. */
export async function restoreLeaves(tx: Writer, folderId: FileId, limit: number): Promise<Restored> {
  return await restore(tx, await listLeavesIn(tx, folderId, { among: 'trashed', limit }))
}

/** Takes a file itself out of the trash. */
export async function restoreRoot(tx: Writer, fileId: FileId, parentId: FileId | null): Promise<Restored> {
  const restored = await restore(tx, [fileId])
  const kept = { discarded_at: null, discarded_by: null, discarded_by_link: 0 }
  await update(tx, [fileId], { parent_id: parentId, original_parent_id: null, ...kept })
  return restored
}

async function restore(tx: Writer, fileIds: readonly FileId[]): Promise<Restored> {
  if (fileIds.length === 0) return { files: 0, unmade: [] }
  const isUnmade = sql`file_tp = 'BLOB' and preset = 'default' and processing_error is null
    and content_type in (${sql.join([...processedTypes])})
    and not exists (select 1 from file_variants as made
      where made.tenant_id = files.tenant_id and made.file_id = files.file_id)`
  const rows = await tx
    .tables<FileTables>()
    .updateTable('files')
    .set({
      status: sql`case when blob_hash is null and file_tp = 'BLOB' then 'P' when ${isUnmade} then 'M' else 'A' end`,
      deleted_at: null,
    })
    .where('tenant_id', '=', tx.tenantId)
    .where('file_id', 'in', fileIds)
    .returning(sql<FileId | null>`case when status = 'M' then file_id end`.as('unmade'))
    .execute()
  return { files: rows.length, unmade: rows.flatMap(({ unmade }) => unmade ?? []) }
}

/** Some of what is in a folder and in the trash, or not, in which nothing else of the kind is. None when all is done. */
async function listLeavesIn(
  reader: Reader,
  folderId: FileId,
  { among, limit }: { readonly among: 'live' | 'trashed'; readonly limit: number },
): Promise<FileId[]> {
  let folders = [folderId]
  while (folders.length > 0) {
    const level = await listChildren(reader, folders, { among, limit })
    const leaves = level.filter((file) => !file.isFolder)
    const inner = level.filter((file) => file.isFolder)
    const full = await listWithChildren(
      reader,
      inner.map(({ fileId }) => fileId),
      among,
    )
    const empty = inner.filter(({ fileId }) => !full.has(fileId))
    const found = [...leaves, ...empty].map(({ fileId }) => fileId)
    if (found.length > 0) return found
    folders = [...full]
  }
  return []
}

export interface ListedChild {
  readonly fileId: FileId
  readonly isFolder: boolean
}

/** What lies in folders and is in the trash, or not; in the order in which least of the disk is written. */
export async function listChildren(
  reader: Reader,
  folderIds: readonly FileId[],
  { among, limit }: { readonly among: 'live' | 'trashed'; readonly limit: number },
): Promise<ListedChild[]> {
  const rows = await reader
    .tables<FileTables>()
    .selectFrom('files')
    .select(['file_id', 'file_tp'])
    .where('tenant_id', '=', reader.tenantId)
    .where('parent_id', 'in', folderIds)
    .where(isAmong('files', among))
    // Where it costs no sorting.
    .$if(folderIds.length === 1, (query) => query.orderBy(among === 'live' ? 'created_at' : 'file_id'))
    .limit(limit)
    .execute()
  return rows.map((row) => ({ fileId: row.file_id as FileId, isFolder: row.file_tp === 'FLDR' }))
}

/** Those of the folders in which something is that is in the trash, or not. */
export async function listWithChildren(
  reader: Reader,
  folderIds: readonly FileId[],
  among: 'live' | 'trashed',
): Promise<Set<FileId>> {
  if (folderIds.length === 0) return new Set()
  const rows = await reader
    .tables<FileTables>()
    .selectFrom('files')
    .select('file_id')
    .where('tenant_id', '=', reader.tenantId)
    .where('file_id', 'in', folderIds)
    .where(
      sql<SqlBool>`exists (select 1 from files as child where child.tenant_id = files.tenant_id
        and child.parent_id = files.file_id and ${isAmong('child', among)})`,
    )
    .execute()
  return new Set(rows.map((row) => row.file_id as FileId))
}

// NOTE: word for word as in the indexes.
function isAmong(file: string, among: 'live' | 'trashed'): RawBuilder<SqlBool> {
  const status = sql.ref(`${file}.status`)
  return among === 'live' ? sql<SqlBool>`${status} <> 'D'` : sql<SqlBool>`${status} = 'D'`
}

/** Puts what is in a folder into none, in the trash or not. */
export async function releaseChildren(tx: Writer, folderId: FileId): Promise<void> {
  for (const among of ['live', 'trashed'] as const)
    await tx
      .tables<FileTables>()
      .updateTable('files')
      .set({ parent_id: null })
      .where('tenant_id', '=', tx.tenantId)
      .where('parent_id', '=', folderId)
      .where(isAmong('files', among))
      .execute()
}

async function update(
  tx: Writer,
  fileIds: readonly FileId[],
  change: UpdateObject<FileTables, 'files'>,
): Promise<void> {
  if (fileIds.length === 0) return
  await tx
    .tables<FileTables>()
    .updateTable('files')
    .set(change)
    .where('tenant_id', '=', tx.tenantId)
    .where('file_id', 'in', fileIds)
    .execute()
}
