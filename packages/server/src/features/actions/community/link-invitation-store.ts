import type { IdTag } from '@kith/protocol'
import type { Reader, Writer } from '#infra/db/index.ts'

interface LinkInvitationTables {
  link_invitations: {
    tenant_id: number
    guest_tag: IdTag
    expires_at: number
  }
}

/** Has this guest used a link into the community of the reader? */
export async function findLinkInvitation(
  reader: Reader,
  { guestTag, at }: { readonly guestTag: IdTag; readonly at: number },
): Promise<boolean> {
  const row = await reader
    .tables<LinkInvitationTables>()
    .selectFrom('link_invitations')
    .select('guest_tag')
    .where('tenant_id', '=', reader.tenantId)
    .where('guest_tag', '=', guestTag)
    .where('expires_at', '>', at)
    .executeTakeFirst()
  return row !== undefined
}

/** False when the guest holds one already, also where another process has just written it. Those that are over go with it,
 * so that no more are kept than were given while one serves. */
export async function addLinkInvitation(
  tx: Writer,
  { guestTag, at, expiresAt }: { readonly guestTag: IdTag; readonly at: number; readonly expiresAt: number },
): Promise<boolean> {
  await tx
    .tables<LinkInvitationTables>()
    .deleteFrom('link_invitations')
    .where('tenant_id', '=', tx.tenantId)
    .where('expires_at', '<=', at)
    .execute()
  const { numInsertedOrUpdatedRows } = await tx
    .tables<LinkInvitationTables>()
    .insertInto('link_invitations')
    .values({ tenant_id: tx.tenantId, guest_tag: guestTag, expires_at: expiresAt })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow()
  return (numInsertedOrUpdatedRows ?? 0n) > 0n
}

export async function endLinkInvitation(tx: Writer, guestTag: IdTag): Promise<void> {
  await tx
    .tables<LinkInvitationTables>()
    .deleteFrom('link_invitations')
    .where('tenant_id', '=', tx.tenantId)
    .where('guest_tag', '=', guestTag)
    .execute()
}
