import type { FileId, IdTag } from '@kith/protocol'
import { sql } from 'kysely'
import type { Reader, Writer } from '#infra/db/index.ts'
import type { FileTables } from './file-store.ts'
import { countFiles, countUnused, type StorageTables } from './storage-store.ts'

type RemovalTables = FileTables & StorageTables

/** What somebody, or anybody, has deleted by itself. */
export async function listTrashRoots(
  reader: Reader,
  { owner, limit }: { readonly owner: IdTag | 'anybody'; readonly limit: number },
): Promise<FileId[]> {
  const rows = await reader
    .tables<FileTables>()
    .selectFrom('files')
    .select('file_id')
    .where('tenant_id', '=', reader.tenantId)
    .where('status', '=', 'D')
    .where('parent_id', 'is', null)
    .$if(owner !== 'anybody', (query) => query.where('owner_tag', '=', owner).where('is_copy', '=', 0))
    .limit(limit)
    .execute()
  return rows.map((row) => row.file_id as FileId)
}

/** Some of the files that are in these, or these themselves, in which nothing is. None when all are gone. */
export async function listLeaves(reader: Reader, roots: readonly FileId[], limit: number): Promise<FileId[]> {
  if (roots.length === 0) return []
  let level = await listLevel(reader, 'file_id', roots, limit)
  while (level.length > 0) {
    const leaves = level.filter((file) => file.contains === 0)
    if (leaves.length > 0) return leaves.map((file) => file.file_id as FileId)
    const folders = level.map((file) => file.file_id)
    level = await listLevel(reader, 'parent_id', folders, limit)
  }
  return []
}

async function listLevel(
  reader: Reader,
  column: 'file_id' | 'parent_id',
  ids: readonly string[],
  limit: number,
) {
  return await reader
    .tables<FileTables>()
    .selectFrom('files')
    .select([
      'file_id',
      sql<number>`case when exists (select 1 from files as child
        where child.tenant_id = files.tenant_id and child.parent_id = files.file_id) then 1 else 0 end`.as(
        'contains',
      ),
    ])
    .where('tenant_id', '=', reader.tenantId)
    .where(column, 'in', ids)
    .limit(limit)
    .execute()
}

/** Removes files, and what their bytes were counted for. Answers how many are gone. */
export async function removeFiles(tx: Writer, fileIds: readonly FileId[], now: number): Promise<number> {
  await releaseBlobs(tx, fileIds, now)
  const { numDeletedRows } = await tx
    .tables<FileTables>()
    .deleteFrom('files')
    .where('tenant_id', '=', tx.tenantId)
    .where('file_id', 'in', fileIds)
    .executeTakeFirst()
  await countFiles(tx, -Number(numDeletedRows))
  return Number(numDeletedRows)
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
    .returning(['size', 'uses'])
    .execute()
  const unused = released.filter(({ uses }) => uses === 0)
  await countUnused(
    tx,
    unused.reduce((sum, { size }) => sum + size, 0),
  )
}
