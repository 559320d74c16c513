import type { FileId, FileType, IdTag } from '@kith/protocol'
import { type SqlBool, sql } from 'kysely'
import type { Reader, TenantId, Writer } from '#infra/db/index.ts'
import type { FileTables } from '../file-store.ts'
import { kindOfContent, type StorageKind } from '../upload/storage-kind.ts'
import { countFiles, countUnused, type StorageTables } from '../upload/storage-store.ts'
import { type ListedChild, listChildren, listWithChildren } from './file-tree-store.ts'
import { deleteFolderChanges, type FolderChangeTables } from './folder-change-store.ts'

type RemovalTables = FileTables & StorageTables

/** What was deleted by itself of what these own, and of copies, by id; not what is being taken out of the trash. */
export async function listTrashRoots(
  reader: Reader,
  {
    owners,
    withCopies,
    after,
    limit,
  }: {
    readonly owners: readonly IdTag[]
    readonly withCopies: boolean
    readonly after: string
    readonly limit: number
  },
): Promise<ListedChild[]> {
  const rows = await reader
    .tables<FolderChangeTables>()
    .selectFrom('files')
    .select(['file_id', 'file_tp'])
    .where('tenant_id', '=', reader.tenantId)
    .where('status', '=', sql.lit('D'))
    .where('parent_id', 'is', null)
    .where('file_id', '>', after)
    .where(
      sql<SqlBool>`not exists (select 1 from folder_changes as change where change.tenant_id = files.tenant_id
        and change.folder_id = files.file_id and change.kind = 'restoring')`,
    )
    .where((file) => {
      const isOwned = file.and([file('owner_tag', 'in', owners), file('is_copy', '=', 0)])
      return withCopies ? file.or([isOwned, file('is_copy', '=', 1)]) : isOwned
    })
    .orderBy('file_id')
    .limit(limit)
    .execute()
  return rows.map((row) => ({ fileId: row.file_id as FileId, isFolder: row.file_tp === 'FLDR' }))
}

/** NOTE: over all tenants: what others than its owner deleted for good, the earliest first, up to a time. */
export async function listDiscarded(
  reader: Reader,
  { upTo, limit }: { readonly upTo: number; readonly limit: number },
): Promise<{ readonly tenantId: TenantId; readonly fileId: FileId }[]> {
  const rows = await reader
    .tables<FileTables>()
    .selectFrom('files')
    .select(['tenant_id', 'file_id'])
    .where('discarded_at', 'is not', null)
    .where('discarded_at', '<=', upTo)
    .orderBy('discarded_at')
    .limit(limit)
    .execute()
  return rows.map((row) => ({ tenantId: row.tenant_id as TenantId, fileId: row.file_id as FileId }))
}

/** A file with all that is in it; undefined when it is more. */
export async function listTree(
  reader: Reader,
  root: ListedChild,
  limit: number,
): Promise<FileId[] | undefined> {
  const tree = [root.fileId]
  let folders = root.isFolder ? [root.fileId] : []
  while (folders.length > 0 && tree.length <= limit) {
    const level = await listLevel(reader, folders, limit - tree.length + 1)
    tree.push(...level.map(({ fileId }) => fileId))
    folders = level.filter((file) => file.isFolder).map(({ fileId }) => fileId)
  }
  return tree.length > limit ? undefined : tree
}

/** Some of the files that are in these, or these themselves, in which nothing is. None when all are gone. */
export async function listLeaves(reader: Reader, roots: readonly FileId[], limit: number): Promise<FileId[]> {
  let level = await listThere(reader, roots)
  while (level.length > 0) {
    const inner = level.filter((file) => file.isFolder).map(({ fileId }) => fileId)
    const full = new Set([
      ...(await listWithChildren(reader, inner, 'trashed')),
      ...(await listWithChildren(reader, inner, 'live')),
    ])
    const leaves = level.filter(({ fileId }) => !full.has(fileId))
    if (leaves.length > 0) return leaves.map(({ fileId }) => fileId)
    level = await listLevel(reader, [...full], limit)
  }
  return []
}

async function listThere(reader: Reader, fileIds: readonly FileId[]): Promise<ListedChild[]> {
  if (fileIds.length === 0) return []
  const rows = await reader
    .tables<FileTables>()
    .selectFrom('files')
    .select(['file_id', 'file_tp'])
    .where('tenant_id', '=', reader.tenantId)
    .where('file_id', 'in', fileIds)
    .execute()
  return rows.map((row) => ({ fileId: row.file_id as FileId, isFolder: row.file_tp === 'FLDR' }))
}

async function listLevel(
  reader: Reader,
  folderIds: readonly FileId[],
  limit: number,
): Promise<ListedChild[]> {
  const trashed = await listChildren(reader, folderIds, { among: 'trashed', limit })
  if (trashed.length >= limit) return trashed
  const rest = { among: 'live', limit: limit - trashed.length } as const
  return [...trashed, ...(await listChildren(reader, folderIds, rest))]
}

/** Those that belong to somebody else; a copy is nobody's here. */
export async function listOfOthers(
  reader: Reader,
  fileIds: readonly FileId[],
  owners: readonly IdTag[],
): Promise<FileId[]> {
  if (fileIds.length === 0) return []
  const rows = await reader
    .tables<FileTables>()
    .selectFrom('files')
    .select('file_id')
    .where('tenant_id', '=', reader.tenantId)
    .where('file_id', 'in', fileIds)
    .where('owner_tag', 'not in', owners)
    .where('is_copy', '=', 0)
    .execute()
  return rows.map((row) => row.file_id as FileId)
}

/** Removes files, and what their bytes were counted for. Answers how many are gone. */
export async function removeFiles(tx: Writer, fileIds: readonly FileId[], now: number): Promise<number> {
  await releaseBlobs(tx, fileIds, now)
  const gone = await tx
    .tables<FileTables>()
    .deleteFrom('files')
    .where('tenant_id', '=', tx.tenantId)
    .where('file_id', 'in', fileIds)
    .returning(['file_tp', 'size'])
    .execute()
  await deleteFolderChanges(tx, fileIds)
  await countFiles(tx, -gone.length)
  // Blobs are counted each once, whatever files they are in.
  const counted = gone.filter(({ file_tp }) => file_tp === 'CRDT' || file_tp === 'RTDB')
  await countUnused(
    tx,
    counted.map(({ size, file_tp }) => ({ size, kind: kindOfContent(file_tp as FileType) })),
  )
  return gone.length
}

/** Every row that goes and names bytes takes one use off them. What nothing uses any more is off the usage at once;
 * the bytes are removed after a while. */
async function releaseBlobs(tx: Writer, fileIds: readonly FileId[], now: number): Promise<void> {
  const released = await tx
    .tables<RemovalTables>()
    .with('gone', (query) =>
      query
        .selectFrom(
          query
            .selectFrom('files')
            .select('blob_hash')
            .where('tenant_id', '=', tx.tenantId)
            .where('file_id', 'in', fileIds)
            .unionAll(
              query
                .selectFrom('file_variants')
                .select('blob_hash')
                .where('tenant_id', '=', tx.tenantId)
                .where('file_id', 'in', fileIds),
            )
            .as('named'),
        )
        .select((row) => ['blob_hash as hash', row.fn.countAll<number>().as('times')])
        .groupBy('blob_hash'),
    )
    .updateTable('blobs')
    .from('gone')
    .set({
      uses: sql`uses - times`,
      unused_since: sql`case when uses = times then ${now} else unused_since end`,
    })
    .where('tenant_id', '=', tx.tenantId)
    // NOTE: without the list SQLite reads all bytes of the tenant.
    .where('blob_hash', 'in', sql<string>`(select hash from gone)`)
    .whereRef('blob_hash', '=', 'hash')
    .returning(['size', 'uses', 'kind'])
    .execute()
  const unused = released.filter(({ uses }) => uses === 0)
  await countUnused(
    tx,
    unused.map(({ size, kind }) => ({ size, kind: kind as StorageKind })),
  )
}
