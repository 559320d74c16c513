import { randomBytes } from 'node:crypto'
import type { Writer } from '#infra/db/index.ts'
import type { Clock } from '#lib/clock.ts'
import type { AuditEntry } from './audit.ts'
import { insertAuditEntry } from './audit-store.ts'

/** Writes a line into the trail of the tenant of `tx`, in the transaction of what happened. */
export async function audit(
  { clock }: { readonly clock: Clock },
  tx: Writer,
  entry: AuditEntry,
): Promise<void> {
  const atMs = clock.now()
  await insertAuditEntry(tx, { ...entry, atMs, entryId: randomBytes(12).toString('base64url') })
}
