import type { FileId } from '@kith/protocol'
import type { Reader, TenantId, Writer } from '#infra/db/index.ts'
import type { FileTables } from '../file-store.ts'
import { listAbove } from './file-tree-store.ts'
import type { FolderChangeKind, FolderChangeTable } from './folder-change-predicate.ts'

export interface FolderChangeTables extends FileTables {
  folder_changes: FolderChangeTable
}

export interface FolderChange {
  readonly folderId: FileId
  readonly kind: FolderChangeKind
  /** Where a folder is to go that is being restored; undefined: into none. */
  readonly parentId: FileId | undefined
}

/** Notes what is being done to all that is in a folder; the latest counts. */
export async function putFolderChange(tx: Writer, change: FolderChange, now: number): Promise<void> {
  const values = { kind: change.kind, parent_id: change.parentId ?? null, started_at: now }
  await tx
    .tables<FolderChangeTables>()
    .insertInto('folder_changes')
    .values({ tenant_id: tx.tenantId, folder_id: change.folderId, ...values })
    .onConflict((conflict) => conflict.columns(['tenant_id', 'folder_id']).doUpdateSet(values))
    .execute()
}

export async function findFolderChange(reader: Reader, folderId: FileId): Promise<FolderChange | undefined> {
  const row = await reader
    .tables<FolderChangeTables>()
    .selectFrom('folder_changes')
    .select(['folder_id', 'kind', 'parent_id'])
    .where('tenant_id', '=', reader.tenantId)
    .where('folder_id', '=', folderId)
    .executeTakeFirst()
  return row && toChange(row)
}

/** Those of a file, if it is a folder, and of the folders above it. */
export async function listChangesAbove(reader: Reader, fileId: FileId): Promise<FolderChange[]> {
  const above = await listAbove(reader, fileId, 'lies')
  if (above.length === 0) return []
  const rows = await reader
    .tables<FolderChangeTables>()
    .selectFrom('folder_changes')
    .select(['folder_id', 'kind', 'parent_id'])
    .where('tenant_id', '=', reader.tenantId)
    .where('folder_id', 'in', above)
    .execute()
  return rows.map(toChange)
}

/** NOTE: over all tenants: changes that began a while ago, and that nobody may be at any more. */
export async function listFolderChanges(
  reader: Reader,
  { startedUpTo, limit }: { readonly startedUpTo: number; readonly limit: number },
): Promise<{ readonly tenantId: TenantId; readonly folderId: FileId }[]> {
  const rows = await reader
    .tables<FolderChangeTables>()
    .selectFrom('folder_changes')
    .select(['tenant_id', 'folder_id'])
    .where('started_at', '<=', startedUpTo)
    .limit(limit)
    .execute()
  return rows.map((row) => ({ tenantId: row.tenant_id as TenantId, folderId: row.folder_id as FileId }))
}

export async function deleteFolderChanges(tx: Writer, folderIds: readonly FileId[]): Promise<void> {
  await tx
    .tables<FolderChangeTables>()
    .deleteFrom('folder_changes')
    .where('tenant_id', '=', tx.tenantId)
    .where('folder_id', 'in', folderIds)
    .execute()
}

function toChange(row: Pick<FolderChangeTable, 'folder_id' | 'kind' | 'parent_id'>): FolderChange {
  return {
    folderId: row.folder_id as FileId,
    kind: row.kind as FolderChangeKind,
    parentId: (row.parent_id ?? undefined) as FileId | undefined,
  }
}
