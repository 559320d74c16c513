import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely'
import { foldersAbove } from './folders-above-predicate.ts'

type Condition = RawBuilder<SqlBool>

/** What is being done to all that is in a folder, in portions. It counts for readers from the first one on, but for
 * `restoring`, which counts from the last. */
export type FolderChangeKind = 'trashing' | 'restoring' | 'removing'

export interface FolderChangeTable {
  tenant_id: number
  folder_id: string
  kind: string
  /** Where a folder is to go that is being restored. */
  parent_id: string | null
  started_at: number
}

/** A row of `files` is in the trash: by itself, or because a folder above it is until a change of that folder is done. */
export function isInTrash(file: string, tenantId: Expression<number>): Condition {
  return sql<SqlBool>`(${sql.ref(`${file}.status`)} = 'D' or ${isInChange(file, tenantId, sql``)})`
}

/** It is about to go for ever: for readers it has. */
export function isBeingRemoved(file: string, tenantId: Expression<number>): Condition {
  return isInChange(file, tenantId, sql`and change.kind = 'removing'`)
}

/** Some folder of the tenant is being changed. */
export function isAnyChanging(tenantId: Expression<number>): Condition {
  return sql<SqlBool>`exists (select 1 from folder_changes where tenant_id = ${tenantId})`
}

// Asked once for all rows: hardly ever is any folder being changed.
function isInChange(file: string, tenantId: Expression<number>, ofKind: RawBuilder<unknown>): Condition {
  return sql<SqlBool>`(${isAnyChanging(tenantId)} and exists (
    with recursive ${foldersAbove(file, { tenantId, link: 'lies' })} select 1 from above join folder_changes as change
      on change.tenant_id = ${tenantId} and change.folder_id = above.file_id ${ofKind}))`
}

/** Somebody other than its owner deleted it for good, or a folder in the trash that it is in. */
export function isDiscarded(file: string, tenantId: Expression<number>): Condition {
  return sql<SqlBool>`exists (
    with recursive ${foldersAbove(file, { tenantId, link: 'lies' })} select 1 from above where above.discarded_at is not null)`
}
