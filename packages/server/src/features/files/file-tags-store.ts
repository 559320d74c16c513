import { foldText, type IdTag } from '@kith/protocol'
import { sql } from 'kysely'
import type { Reader, Writer } from '#infra/db/index.ts'
import type { FileTables } from './file-store.ts'
import { isInTrash } from './folders/folder-change-predicate.ts'

/** The tags of somebody's files outside the trash that begin so, in their order, with how many files carry each. */
export async function listTagCounts(
  reader: Reader,
  { ownerTag, prefix, limit }: { readonly ownerTag: IdTag; readonly prefix: string; readonly limit: number },
): Promise<{ tag: string; count: number }[]> {
  const start = foldText(prefix)
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
    .groupBy('file_tags.tag')
    .orderBy('file_tags.tag')
    .$if(start === '', (query) => query.limit(limit))
    .execute()
  // Databases do not fold text alike: all of them are compared here.
  const found = rows.filter(({ tag }) => foldText(tag).startsWith(start)).slice(0, limit)
  return found.map(({ tag, count }) => ({ tag, count: Number(count) }))
}

/** Adds a row by which a file is found by a tag; nothing where there is one. */
export async function addTag(
  tx: Writer,
  { fileId, tag }: { readonly fileId: string; readonly tag: string },
): Promise<void> {
  await tx
    .tables<FileTables>()
    .insertInto('file_tags')
    .values({ tenant_id: tx.tenantId, tag, file_id: fileId })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}
