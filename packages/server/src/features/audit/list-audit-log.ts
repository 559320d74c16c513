import {
  type AuditEntryView,
  type CursorPage,
  type ModerationEntry,
  moderationEvents,
  toIso,
} from '@kith/protocol'
import type { Tenant } from '#infra/caller/index.ts'
import type { Database } from '#infra/db/index.ts'
import type { Clock } from '#lib/clock.ts'
import type { StoredAuditEntry } from './audit.ts'
import { pageAuditEntries } from './audit-store.ts'
import { auditKeptMs } from './sweep-audit.ts'

interface ListDeps {
  readonly db: Database
  readonly clock: Clock
}

interface ListRequest {
  readonly tenant: Tenant
  readonly limit: number
  readonly cursor?: string
}

/** The decisions about members and what they posted: without addresses, which are for leaders alone. */
export async function listModeration(
  { db, clock }: ListDeps,
  { tenant, limit, cursor }: ListRequest,
): Promise<CursorPage<ModerationEntry>> {
  const fromMs = clock.now() - auditKeptMs
  const asked = { fromMs, events: moderationEvents, cursor, limit }
  const page = await pageAuditEntries(db.reader(tenant.tenantId), asked)
  const items = page.items.map(({ ip: _, ...entry }) => toView(entry) as ModerationEntry)
  return { ...page, items }
}

export async function listAuditLog(
  { db, clock }: ListDeps,
  { tenant, limit, cursor }: ListRequest,
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
