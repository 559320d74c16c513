import type { CursorPage, IdTag } from '@kith/protocol'
import { deletionOf, keysetPage, type Reader, type Writer } from '#infra/db/index.ts'
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
  /** These alone; all when absent. */
  readonly events?: readonly StoredAuditEntry['event'][]
  readonly cursor: string | undefined
  readonly limit: number
}

/** Newest first. `E-VALIDATION` for a bad cursor. */
export async function pageAuditEntries(
  reader: Reader,
  { fromMs, events, cursor, limit }: AuditPage,
): Promise<CursorPage<StoredAuditEntry>> {
  const entries = reader
    .tables<AuditTables>()
    .selectFrom('audit_log')
    .select(['entry_id', 'at_ms', 'event', 'actor_tag', 'ip', 'details'])
    .where('tenant_id', '=', reader.tenantId)
    .where('at_ms', '>=', fromMs)
  const page = await keysetPage(
    events ? entries.where('event', 'in', [...events]) : entries,
    { sort: 'at', column: 'at_ms', kind: 'integer', idColumn: 'entry_id', idKind: 'text' },
    { direction: 'desc', cursor, limit },
  )
  const items = page.items.map((row) => ({
    entryId: row.entry_id,
    atMs: row.at_ms,
    event: row.event,
    details: JSON.parse(row.details),
    ...(row.actor_tag === null ? {} : { actorTag: row.actor_tag }),
    ...(row.ip === null ? {} : { ip: row.ip }),
  }))
  return { ...page, items }
}
