import type { IdTag } from '@kith/protocol'
import { sql } from 'kysely'
import type { Reader } from '#infra/db/index.ts'
import type { ActionTables } from './action-tables.ts'

/** Does the community hold an invitation of this guest? It keeps only those whose inviters had the right. */
export async function findStandingInvitation(
  reader: Reader,
  {
    communityTag,
    guestTag,
    at,
  }: { readonly communityTag: IdTag; readonly guestTag: IdTag; readonly at: number },
): Promise<boolean> {
  const row = await reader
    .tables<ActionTables>()
    .selectFrom('actions')
    .select('action_id')
    .where('tenant_id', '=', reader.tenantId)
    .where('audience_tag', '=', guestTag)
    .where('type', '=', 'INVT')
    .where('subject', '=', communityTag)
    .where(sql<boolean>`status = 'A' and (expires_at is null or expires_at > ${at})`)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}
