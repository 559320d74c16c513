import type { FileId, IdTag } from '@kith/protocol'
import type { Tenant } from '#infra/caller/index.ts'
import { type Database, serverTenant, type TenantId } from '#infra/db/index.ts'
import { nowSecs } from '#lib/clock.ts'
import type { AnnounceDeps } from './announce-share.ts'
import { type EndDeps, endShares, endUnfounded } from './end-shares.ts'
import { listExpired, listTenantsToSweep } from './share-store.ts'

export interface SweepSharesDeps extends EndDeps {
  readonly db: Database
  readonly findTenant: (tenantId: TenantId) => Promise<Tenant | undefined>
}

const sharesPerBatch = 200

/** Does the work of `sweepSharesJob`. Expired shares gave nothing any more. */
export async function sweepShares(deps: SweepSharesDeps): Promise<void> {
  const { db, clock } = deps
  const now = nowSecs(clock)
  for (const tenantId of await listTenantsToSweep(db.reader(serverTenant), now)) {
    const tenant = await deps.findTenant(tenantId)
    if (!tenant) continue
    while ((await sweepBatch(deps, tenant, now)) === sharesPerBatch) {
      // Each batch in a transaction of its own, so that others get their turn.
    }
    await db.transact(tenantId, (tx) => endUnfounded(deps, tx, tenant))
  }
}

async function sweepBatch(deps: SweepSharesDeps, { tenantId }: Tenant, now: number): Promise<number> {
  return await deps.db.transact(tenantId, async (tx) => {
    const expired = await listExpired(tx, now, sharesPerBatch)
    await endShares(deps, tx, expired)
    return expired.length
  })
}

/** Does the work of `withdrawShareJob`. */
export async function withdrawShare(
  deps: AnnounceDeps & Pick<SweepSharesDeps, 'db' | 'findTenant'>,
  payload: { readonly fileId: string; readonly audienceTag: string },
  { tenantId }: { readonly tenantId: TenantId },
): Promise<void> {
  const tenant = await deps.findTenant(tenantId)
  if (!tenant) return
  const fileId = payload.fileId as FileId
  const audienceTag = payload.audienceTag as IdTag
  const notice = { tenant, caller: undefined, audienceTag, fileId, grant: 'withdrawn' } as const
  const announce = await deps.prepareFileShare(notice)
  await deps.db.transact(tenantId, announce)
}
