import { type AuditEntryView, type CursorPage, decodeCursor, encodeCursor, toIso } from '@kith/protocol'
import type { Tenant } from '#infra/caller/index.ts'
import type { Database } from '#infra/db/index.ts'
import type { Clock } from '#lib/clock.ts'
import { invalid } from '#lib/failure.ts'
import type { StoredAuditEntry } from './audit.ts'
import { listAuditEntries } from './audit-store.ts'
import { auditKeptMs } from './sweep-audit.ts'

const sort = 'at'

export async function listAuditLog(
  { db, clock }: { readonly db: Database; readonly clock: Clock },
  input: { tenant: Tenant; limit: number; cursor?: string },
): Promise<CursorPage<AuditEntryView>> {
  const { tenant, limit } = input
  const after = input.cursor === undefined ? undefined : decodePlace(input.cursor)
  const found = await listAuditEntries(db.reader(tenant.tenantId), {
    fromMs: clock.now() - auditKeptMs,
    limit: limit + 1,
    ...(after ? { after } : {}),
  })
  const entries = found.slice(0, limit)
  const last = found.length > limit ? entries.at(-1) : undefined
  return {
    items: entries.map(toView),
    nextCursor: last ? encodeCursor({ s: sort, v: last.atMs, id: last.entryId }) : null,
  }
}

function decodePlace(text: string): { atMs: number; entryId: string } {
  const cursor = decodeCursor(text, sort)
  if (typeof cursor?.v !== 'number' || !Number.isSafeInteger(cursor.v) || typeof cursor.id !== 'string')
    throw invalid('/query/cursor', 'This cursor does not belong to this list.')
  return { atMs: cursor.v, entryId: cursor.id }
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
