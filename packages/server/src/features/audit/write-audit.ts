import { randomBytes } from 'node:crypto'
import type { Writer } from '#infra/db/index.ts'
import type { Clock } from '#lib/clock.ts'
import type { AuditEntry } from './audit.ts'
import { deleteAuditEntriesBefore, insertAuditEntry } from './audit-store.ts'

export const auditKeptMs = 180 * 24 * 3_600_000

/** Writes a line into the trail of the tenant of `tx`, in the transaction of what happened. */
export async function audit(
  { clock }: { readonly clock: Clock },
  tx: Writer,
  entry: AuditEntry,
): Promise<void> {
  const atMs = clock.now()
  await deleteAuditEntriesBefore(tx, atMs - auditKeptMs)
  await insertAuditEntry(tx, { ...entry, atMs, entryId: randomBytes(12).toString('base64url') })
}
