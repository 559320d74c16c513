import type { IdTag } from '@kith/protocol'
import { sql } from 'kysely'
import { deletionOf, type Reader, type Writer } from '#infra/db/index.ts'

interface ReleasedTables {
  released_identities: { tenant_id: number; id_tag: string; registrar_tag: IdTag | null; until: number }
}

interface ReleasedIdentity {
  readonly idTag: IdTag
  /** The registrar that had it pending, and may have it again at once. */
  readonly registrarTag?: IdTag | undefined
  readonly until: number
}

/** Keeps a released name from others until then. */
export async function putReleased(
  tx: Writer,
  { idTag, registrarTag, until }: ReleasedIdentity,
): Promise<void> {
  const change = { registrar_tag: registrarTag ?? null, until }
  await tx
    .tables<ReleasedTables>()
    .insertInto('released_identities')
    .values({ tenant_id: tx.tenantId, id_tag: idTag, ...change })
    .onConflict((conflict) => conflict.columns(['tenant_id', 'id_tag']).doUpdateSet(change))
    .execute()
}

export async function findReleased(
  reader: Reader,
  { idTag, now }: { readonly idTag: IdTag; readonly now: number },
): Promise<ReleasedIdentity | undefined> {
  const row = await reader
    .tables<ReleasedTables>()
    .selectFrom('released_identities')
    .select(['registrar_tag', 'until'])
    .where('tenant_id', '=', reader.tenantId)
    .where('id_tag', '=', idTag)
    .where('until', '>', now)
    .executeTakeFirst()
  return row && { idTag, until: row.until, registrarTag: row.registrar_tag ?? undefined }
}

/** Is one of the names released lately, by any provider of this server? */
export async function isReleased(
  reader: Reader,
  { names, now }: { readonly names: readonly IdTag[]; readonly now: number },
): Promise<boolean> {
  const row = await reader
    .tables<ReleasedTables>()
    .selectFrom('released_identities')
    .select('id_tag')
    .where('id_tag', 'in', names)
    // Not a condition that the index on `until` could serve: it would be read through all released names.
    .where(sql<number>`until + 0`, '>', now)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

export async function deleteReleased(tx: Writer, idTag: IdTag): Promise<void> {
  await tx
    .tables<ReleasedTables>()
    .deleteFrom('released_identities')
    .where('tenant_id', '=', tx.tenantId)
    .where('id_tag', '=', idTag)
    .execute()
}

/** NOTE: over all tenants: removes names that are available again. */
export const pruneReleased = deletionOf({
  table: 'released_identities',
  key: ['tenant_id', 'id_tag'],
  time: 'until',
})
