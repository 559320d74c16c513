import type { IdTag } from '@kith/protocol'
import { type SqlBool, sql } from 'kysely'
import type { Reader } from '#infra/db/index.ts'
import type { FileTables } from './file-store.ts'
import { isInTrash } from './folders/folder-change-predicate.ts'

/** The tags of somebody's files outside the trash, in their order, with how many files carry each. */
export async function listTagCounts(
  reader: Reader,
  { ownerTag, prefix, limit }: { readonly ownerTag: IdTag; readonly prefix: string; readonly limit: number },
): Promise<{ tag: string; count: number }[]> {
  const rows = await reader
    .tables<FileTables>()
    .selectFrom('file_tags')
    .innerJoin('files', (join) =>
      join
        .onRef('files.tenant_id', '=', 'file_tags.tenant_id')
        .onRef('files.file_id', '=', 'file_tags.file_id'),
    )
    .select((row) => ['file_tags.tag', row.fn.countAll<number>().as('count')])
    .where('file_tags.tenant_id', '=', reader.tenantId)
    .where('files.owner_tag', '=', ownerTag)
    .where('files.is_copy', '=', 0)
    .where((row) => row.not(isInTrash('files', sql`${reader.tenantId}`)))
    .where(sql<SqlBool>`substr(file_tags.tag, 1, ${[...prefix].length}) = ${prefix}`)
    .groupBy('file_tags.tag')
    .orderBy('file_tags.tag')
    .limit(limit)
    .execute()
  return rows.map(({ tag, count }) => ({ tag, count: Number(count) }))
}
