import type { FileId, IdTag } from '@kith/protocol'
import { type SqlBool, sql } from 'kysely'
import { isLive, isReadableBy, type Viewer } from '#features/relations/index.ts'
import type { Reader } from '#infra/db/index.ts'
import type { AccessTables } from '../access/file-access-predicate.ts'
import { findFile } from '../file-store.ts'

/** Whose file it is that came with an action from elsewhere which the viewer may read, and that was not fetched. `now`:
 * Unix seconds. */
export async function findUnfetched(
  reader: Reader,
  viewer: Viewer,
  { fileId, now }: { readonly fileId: FileId; readonly now: number },
): Promise<IdTag | undefined> {
  const row = await reader
    .tables<AccessTables>()
    .selectFrom('action_attachments as attached')
    .innerJoin('actions', (join) =>
      join
        .onRef('actions.tenant_id', '=', 'attached.tenant_id')
        .onRef('actions.action_id', '=', 'attached.action_id'),
    )
    .select('actions.issuer_tag')
    .where('attached.tenant_id', '=', reader.tenantId)
    .where('attached.file_id', '=', fileId)
    .where('actions.issuer_tag', '<>', viewer.tenantTag)
    .where(isLive('actions', sql`${now}`))
    .where(isReadableBy(viewer, 'actions'))
    .where(
      sql<SqlBool>`not exists (select 1 from files where files.tenant_id = attached.tenant_id
        and files.file_id = attached.file_id)`,
    )
    .limit(1)
    .executeTakeFirst()
  return row && (row.issuer_tag as IdTag)
}

/** Is there still an action with which this file came, or does the tenant know of it otherwise? */
export async function isWanted(reader: Reader, fileId: FileId): Promise<boolean> {
  const attached = await reader
    .tables<AccessTables>()
    .selectFrom('action_attachments')
    .select('file_id')
    .where('tenant_id', '=', reader.tenantId)
    .where('file_id', '=', fileId)
    .limit(1)
    .executeTakeFirst()
  return attached !== undefined || (await findFile(reader, fileId)) !== undefined
}
