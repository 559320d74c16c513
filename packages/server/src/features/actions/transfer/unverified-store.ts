import type { ActionId, IdTag } from '@kith/protocol'
import { sql } from 'kysely'
import type { Reader, Writer } from '#infra/db/index.ts'
import type { ActionTables } from '../action-tables.ts'

/** A token that an import has brought along. */
export interface UnverifiedToken {
  readonly seq: number
  readonly actionId: ActionId
  readonly token: string
}

/** Whose tokens the tenant holds without having verified them, in the order of their names. */
export async function listUnverifiedIssuers(
  reader: Reader,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<IdTag[]> {
  const rows = await unverified(reader)
    .select('issuer_tag')
    .distinct()
    .where('issuer_tag', '>', after)
    .orderBy('issuer_tag')
    .limit(limit)
    .execute()
  return rows.map((row) => row.issuer_tag as IdTag)
}

/** Unverified tokens of an issuer, in the order in which they had arrived. */
export async function listUnverified(
  reader: Reader,
  { issuerTag, after, limit }: { readonly issuerTag: IdTag; readonly after: number; readonly limit: number },
): Promise<UnverifiedToken[]> {
  const rows = await unverified(reader)
    .select(['seq', 'action_id', 'token'])
    .where('issuer_tag', '=', issuerTag)
    .where('seq', '>', after)
    .orderBy('seq')
    .limit(limit)
    .execute()
  return rows.map((row) => ({
    seq: row.seq,
    actionId: row.action_id as ActionId,
    token: row.token ?? '',
  }))
}

// The literal is that of the partial index.
function unverified(reader: Reader) {
  return reader
    .tables<ActionTables>()
    .selectFrom('actions')
    .where('tenant_id', '=', reader.tenantId)
    .where(sql<boolean>`unverified = 1`)
    .where('token', 'is not', null)
}

export async function setVerified(tx: Writer, actionId: ActionId): Promise<void> {
  await tx
    .tables<ActionTables>()
    .updateTable('actions')
    .set({ unverified: 0 })
    .where('tenant_id', '=', tx.tenantId)
    .where('action_id', '=', actionId)
    .execute()
}
