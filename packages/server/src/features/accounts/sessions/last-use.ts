import { type Database, serverTenant, type TenantId } from '#infra/db/index.ts'
import type { Clock } from '#lib/clock.ts'
import { LateNotes } from '#lib/late-notes.ts'
import { updateLastUse } from './session-store.ts'

interface Note {
  readonly tenantId: TenantId
  readonly sid: string
  readonly usedAt: number
}

/** Writes down when sessions were last used. */
export class LastUse extends LateNotes<Note> {
  constructor(db: Database, clock: Clock) {
    const write = (notes: readonly Note[]) =>
      db.transact(serverTenant, async (tx) => {
        for (const { tenantId, sid, usedAt } of notes) await updateLastUse(tx.as(tenantId), sid, usedAt)
      })
    super({ clock, maxPending: 5_000, write })
  }

  noteSession(
    tenantId: TenantId,
    { sid, lastUsedAt }: { readonly sid: string; readonly lastUsedAt: number },
  ) {
    this.note(`${tenantId} ${sid}`, (usedAt) => ({ tenantId, sid, usedAt }), lastUsedAt)
  }
}
