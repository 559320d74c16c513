import type { ActionId, IdTag } from '@kith/protocol'
import { sql } from 'kysely'
import type { Reader, Writer } from '#infra/db/index.ts'
import type { ActionTables } from '../action-tables.ts'
import { eraseAction } from '../removal/erase-store.ts'
import { endLinkInvitation, findLinkInvitation } from './link-invitation-store.ts'

/** Does the community hold an open invitation of this guest, by a moderator or by a link? It stores only invitations whose
 * inviters had the right to invite. */
export async function findOpenInvitation(
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
  return row !== undefined || (await findLinkInvitation(reader, { guestTag, at }))
}

/** Ends the invitations of an identity that left or was refused: it needs another one to come back. */
export async function consumeInvitations(
  tx: Writer,
  { communityTag, guestTag }: { readonly communityTag: IdTag; readonly guestTag: IdTag },
): Promise<void> {
  const open = await tx
    .tables<ActionTables>()
    .selectFrom('actions')
    .select('action_id')
    .where('tenant_id', '=', tx.tenantId)
    .where('audience_tag', '=', guestTag)
    .where('type', '=', 'INVT')
    .where('subject', '=', communityTag)
    .where('status', '=', 'A')
    .execute()
  for (const row of open) await eraseAction(tx, row.action_id as ActionId)
  await endLinkInvitation(tx, guestTag)
}
