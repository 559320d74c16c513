import type { IdTag } from '@kith/protocol'
import { deletionOf, type Reader, type Writer } from '#infra/db/index.ts'
import type { StoredAuditEntry } from './audit.ts'

interface AuditTables {
  audit_log: {
    tenant_id: number
    entry_id: string
    at_ms: number
    event: StoredAuditEntry['event']
    actor_tag: IdTag | null
    ip: string | null
    details: string
  }
}

export async function insertAuditEntry(tx: Writer, entry: StoredAuditEntry): Promise<void> {
  await tx
    .tables<AuditTables>()
    .insertInto('audit_log')
    .values({
      tenant_id: tx.tenantId,
      entry_id: entry.entryId,
      at_ms: entry.atMs,
      event: entry.event,
      actor_tag: entry.actorTag ?? null,
      ip: entry.ip ?? null,
      details: JSON.stringify(entry.details ?? {}),
    })
    .execute()
}

/** NOTE: over all tenants. */
export const deleteOldEntries = deletionOf({
  table: 'audit_log',
  key: ['tenant_id', 'entry_id'],
  time: 'at_ms',
})

interface AuditPage {
  readonly fromMs: number
  readonly limit: number
  /** The last entry of the page before. */
  readonly after?: { readonly atMs: number; readonly entryId: string }
}

/** Newest first. */
export async function listAuditEntries(reader: Reader, page: AuditPage): Promise<StoredAuditEntry[]> {
  const { fromMs, limit, after } = page
  let query = reader
    .tables<AuditTables>()
    .selectFrom('audit_log')
    .select(['entry_id', 'at_ms', 'event', 'actor_tag', 'ip', 'details'])
    .where('tenant_id', '=', reader.tenantId)
    .where('at_ms', '>=', fromMs)
  if (after)
    query = query.where((row) =>
      row.or([
        row('at_ms', '<', after.atMs),
        row.and([row('at_ms', '=', after.atMs), row('entry_id', '<', after.entryId)]),
      ]),
    )
  const rows = await query.orderBy('at_ms', 'desc').orderBy('entry_id', 'desc').limit(limit).execute()
  return rows.map((row) => ({
    entryId: row.entry_id,
    atMs: row.at_ms,
    event: row.event,
    details: JSON.parse(row.details),
    ...(row.actor_tag === null ? {} : { actorTag: row.actor_tag }),
    ...(row.ip === null ? {} : { ip: row.ip }),
  }))
}
