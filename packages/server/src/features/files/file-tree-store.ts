import type { FileId } from '@kith/protocol'
import { sql, type UpdateObject } from 'kysely'
import type { Reader, Writer } from '#infra/db/index.ts'
import { processedTypes } from './file.ts'
import type { FileTables } from './file-store.ts'

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
  const { folders } = await reader
    .tables<FileTables>()
    .withRecursive('above(file_id)', (query) =>
      query
        .selectFrom('files')
        .select('file_id')
        .where('tenant_id', '=', reader.tenantId)
        .where('file_id', '=', folderId)
        .union(
          query
            .selectFrom('above')
            .innerJoin('files as folder', 'folder.file_id', 'above.file_id')
            .select((row) => row.ref('folder.parent_id').$castTo<string>().as('file_id'))
            .where('folder.tenant_id', '=', reader.tenantId)
            .where('folder.parent_id', 'is not', null),
        ),
    )
    .selectFrom('above')
    .select((row) => row.fn.countAll<number>().as('folders'))
    .executeTakeFirstOrThrow()
  return Number(folders)
}

/** How many levels a file with what is in it has, and whether another is among them. */
async function measureBelow(reader: Reader, fileId: FileId, sought: FileId) {
  const row = await reader
    .tables<FileTables>()
    .withRecursive('below(file_id, level)', (query) =>
      query
        .selectFrom('files')
        .select(['file_id', sql<number>`1`.as('level')])
        .where('tenant_id', '=', reader.tenantId)
        .where('file_id', '=', fileId)
        .unionAll(
          query
            .selectFrom('below')
            // NOTE: SQLite keeps the order of a cross join; in the other one it reads all files of the tenant for each.
            .crossJoin('files as child')
            .select(['child.file_id', sql<number>`below.level + 1`.as('level')])
            .where('child.tenant_id', '=', reader.tenantId)
            .whereRef('child.parent_id', '=', 'below.file_id'),
        ),
    )
    .selectFrom('below')
    .select((file) => [
      file.fn.max('level').as('deepest'),
      sql<number>`sum(case when file_id = ${sought} then 1 else 0 end)`.as('rows'),
    ])
    .executeTakeFirstOrThrow()
  return { rows: Number(row.rows), deepest: Number(row.deepest) }
}

/** Puts a file into the trash with all that is in it. What lies there already stays by itself. */
export async function trashTree(tx: Writer, fileId: FileId, now: number): Promise<void> {
  await treeOf(tx, fileId)
    .updateTable('files')
    .set({ status: 'D', deleted_at: now })
    .where('tenant_id', '=', tx.tenantId)
    .where('file_id', 'in', sql<string>`(select file_id from tree)`)
    .execute()
  await place(tx, fileId, { original_parent_id: sql`parent_id`, parent_id: null })
}

/** Takes a file out of the trash, with all that went there in it. Answers the pictures among them whose variants were not
 * made yet: they are `M`. */
export async function restoreTree(tx: Writer, fileId: FileId, parentId: FileId | null): Promise<FileId[]> {
  const isUnmade = sql`file_tp = 'BLOB' and preset = 'default' and processing_error is null
    and content_type in (${sql.join([...processedTypes])})
    and not exists (select 1 from file_variants as made
      where made.tenant_id = files.tenant_id and made.file_id = files.file_id)`
  const rows = await treeOf(tx, fileId)
    .updateTable('files')
    .set({
      status: sql`case when blob_hash is null and file_tp = 'BLOB' then 'P' when ${isUnmade} then 'M' else 'A' end`,
      deleted_at: null,
      original_parent_id: null,
    })
    .where('tenant_id', '=', tx.tenantId)
    .where('file_id', 'in', sql<string>`(select file_id from tree)`)
    .returning(sql<FileId | null>`case when status = 'M' then file_id end`.as('unmade'))
    .execute()
  await place(tx, fileId, { parent_id: parentId })
  return rows.flatMap(({ unmade }) => unmade ?? [])
}

/** Puts what is in a folder into none, in the trash or not. */
export async function releaseChildren(tx: Writer, folderId: FileId): Promise<void> {
  await tx
    .tables<FileTables>()
    .updateTable('files')
    .set({ parent_id: null })
    .where('tenant_id', '=', tx.tenantId)
    .where('parent_id', '=', folderId)
    .execute()
}

/** Apart from the rest of the tree: naming a column costs every row its place in the indexes with it. */
async function place(tx: Writer, fileId: FileId, change: UpdateObject<FileTables, 'files'>): Promise<void> {
  await tx
    .tables<FileTables>()
    .updateTable('files')
    .set(change)
    .where('tenant_id', '=', tx.tenantId)
    .where('file_id', '=', fileId)
    .execute()
}

function treeOf(tx: Writer, root: FileId) {
  return tx.tables<FileTables>().withRecursive('tree(file_id)', (query) =>
    query
      .selectFrom('files')
      .select('file_id')
      .where('tenant_id', '=', tx.tenantId)
      .where('file_id', '=', root)
      .union(
        query
          .selectFrom('tree')
          .crossJoin('files as child')
          .select('child.file_id')
          .where('child.tenant_id', '=', tx.tenantId)
          .whereRef('child.parent_id', '=', 'tree.file_id'),
      ),
  )
}
