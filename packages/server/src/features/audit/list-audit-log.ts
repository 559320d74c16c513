import { type AuditEntryView, type CursorPage, toIso } from '@kith/protocol'
import type { Tenant } from '#infra/caller/index.ts'
import type { Database } from '#infra/db/index.ts'
import type { Clock } from '#lib/clock.ts'
import type { StoredAuditEntry } from './audit.ts'
import { pageAuditEntries } from './audit-store.ts'
import { auditKeptMs } from './sweep-audit.ts'

export async function listAuditLog(
  { db, clock }: { readonly db: Database; readonly clock: Clock },
  { tenant, limit, cursor }: { tenant: Tenant; limit: number; cursor?: string },
): Promise<CursorPage<AuditEntryView>> {
  const fromMs = clock.now() - auditKeptMs
  const page = await pageAuditEntries(db.reader(tenant.tenantId), { fromMs, cursor, limit })
  return { ...page, items: page.items.map(toView) }
}

function toView(entry: StoredAuditEntry): AuditEntryView {
  return {
    id: entry.entryId,
    event: entry.event,
    createdAt: toIso(entry.atMs / 1000),
    details: { ...entry.details },
    ...(entry.actorTag === undefined ? {} : { actorTag: entry.actorTag }),
    ...(entry.ip === undefined ? {} : { ipAddress: entry.ip }),
  }
}
