import type { IdTag } from '@kith/protocol'
import type { Static } from 'typebox'
import { audit } from '#features/audit/index.ts'
import { findViewer } from '#features/relations/index.ts'
import { findActiveById, type Tenants } from '#features/tenants/index.ts'
import { ownerOf } from '#infra/caller/index.ts'
import type { JobContext } from '#infra/jobs/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import type { updateAppJob } from '../apps-jobs.ts'
import { findNewestOffer } from '../offers/offer-store.ts'
import { type InstallDeps, installApp } from './install-app.ts'
import { findInstalled } from './installed-app-store.ts'

export interface UpdateDeps extends InstallDeps {
  readonly tenants: Tenants
}

/** Does the work of `updateAppJob`: installs the newest version with the rights of the tenant itself, where `autoUpdate` is
 * still set. A failure that will not pass by itself is noted in the audit trail. */
export async function updateApp(
  deps: UpdateDeps,
  payload: Static<(typeof updateAppJob)['payload']>,
  { tenantId, signal }: Pick<JobContext, 'tenantId' | 'signal'>,
): Promise<void> {
  const { name } = payload
  const publisherTag = payload.publisherTag as IdTag
  const tenant = await findActiveById(deps.tenants, tenantId)
  if (!tenant) return
  const reader = deps.db.reader(tenantId)
  const caller = ownerOf(tenant)
  const shown = { viewer: await findViewer(reader, tenant, caller), now: nowSecs(deps.clock) }
  const offer = await findNewestOffer(reader, { ...shown, publisherTag, name })
  if (!offer || !(await findInstalled(reader, offer))?.autoUpdate) return
  try {
    await installApp(deps, { tenant, caller, actionId: offer.actionId, isAutomatic: true, signal })
  } catch (error) {
    if (!(error instanceof Failure) || error.code === 'E-UNAVAILABLE' || error.code === 'E-QUOTA') throw error
    const reason = error.details?.reason
    // Not offered to it any more, installed already, or not wanted any more.
    if (error.code === 'E-ACTION-NOTFOUND' || (error.code === 'E-STATE' && reason === undefined)) return
    const details = { publisherTag, name, version: offer.version, code: error.code, reason }
    await deps.db.transact(tenantId, (tx) => audit(deps, tx, { event: 'app.upgrade-refused', details }))
  }
}
