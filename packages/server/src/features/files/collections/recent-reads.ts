import type { FileId, IdTag } from '@kith/protocol'
import { type Caller, idTagOf, type Tenant } from '#infra/caller/index.ts'
import { type Database, serverTenant, type TenantId } from '#infra/db/index.ts'
import type { Clock } from '#lib/clock.ts'
import { LateNotes } from '#lib/late-notes.ts'
import { putRead } from './collection-store.ts'

interface Read {
  readonly tenantId: TenantId
  readonly idTag: IdTag
  readonly fileId: FileId
  readonly readAt: number
}

/** Notes which identity has read which file, for the collection `RCNT` (docs/protocol/collections-and-settings.md). */
export class RecentReads extends LateNotes<Read> {
  constructor(db: Database, clock: Clock) {
    const write = (reads: readonly Read[]) =>
      db.transact(serverTenant, async (tx) => {
        for (const { tenantId, idTag, fileId, readAt } of reads)
          await putRead(tx.as(tenantId), idTag, fileId, readAt)
      })
    super({ clock, maxPending: 2_000, write })
  }

  /** A caller without an identity has no collections. */
  noteRead({ tenant, caller, fileId }: { tenant: Tenant; caller: Caller; fileId: FileId }): void {
    const idTag = idTagOf(caller)
    if (idTag === undefined) return
    const { tenantId } = tenant
    this.note(`${tenantId} ${idTag} ${fileId}`, (readAt) => ({ tenantId, idTag, fileId, readAt }))
  }
}
