import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely'
import type { ListTable } from '../access/listed-files-predicate.ts'

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
    with recursive ${above(file, tenantId)} select 1 from above join folder_changes as change
      on change.tenant_id = ${tenantId} and change.folder_id = above.file_id ${ofKind}))`
}

/** Somebody other than its owner deleted it for good, or a folder in the trash that it is in. */
export function isDiscarded(file: string, tenantId: Expression<number>): Condition {
  return sql<SqlBool>`exists (
    with recursive ${above(file, tenantId)} select 1 from above where above.discarded_at is not null)`
}

function above(file: string, tenantId: Expression<number>) {
  const of = (column: string) => sql.ref(`${file}.${column}`)
  return sql`above(file_id, parent_id, discarded_at) as (
    select ${of('file_id')}, ${of('parent_id')}, ${of('discarded_at')}
    union
    select folder.file_id, folder.parent_id, folder.discarded_at
    from above join files as folder on folder.tenant_id = ${tenantId} and folder.file_id = above.parent_id)`
}

/** For whoever looks at many: the folders that are being changed, with the folders in them. */
export function changingTable(tenantId: Expression<number>): ListTable {
  return {
    name: 'changing(file_id, kind)',
    query: sql`select change.folder_id, change.kind from folder_changes as change where change.tenant_id = ${tenantId}
      union select folder.file_id, changing.kind from changing ${foldersIn('changing', tenantId)}`,
  }
}

/** The folders that were discarded, with the folders in them. */
export function discardedTable(tenantId: Expression<number>): ListTable {
  return {
    name: 'discarded(file_id)',
    query: sql`select gone.file_id from files as gone where gone.tenant_id = ${tenantId}
      and gone.discarded_at is not null and gone.file_tp = 'FLDR'
      union select folder.file_id from discarded ${foldersIn('discarded', tenantId)}`,
  }
}

function foldersIn(table: string, tenantId: Expression<number>) {
  return sql`cross join files as folder where folder.tenant_id = ${tenantId}
    and folder.file_tp = 'FLDR' and folder.parent_id = ${sql.ref(`${table}.file_id`)}`
}

/** The same as the predicates above, by these tables. */
export const listed = {
  /** It lies in a folder that is being changed. */
  isInChange: (file: string) => isIn(file, sql`(select file_id from changing)`),
  isBeingRemoved: (file: string) => {
    const removing = sql`(select file_id from changing where kind = 'removing')`
    return sql<SqlBool>`(${sql.ref(`${file}.file_id`)} in ${removing} or ${isIn(file, removing)})`
  },
  isDiscarded: (file: string) =>
    sql<SqlBool>`(${sql.ref(`${file}.discarded_at`)} is not null or ${isIn(file, sql`(select file_id from discarded)`)})`,
}

function isIn(file: string, folders: RawBuilder<unknown>): Condition {
  return sql<SqlBool>`coalesce(${sql.ref(`${file}.parent_id`)} in ${folders}, false)`
}
