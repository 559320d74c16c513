import type { ActionId } from '@kith/protocol'
import type { Static } from 'typebox'
import { audit } from '#features/audit/index.ts'
import { findActiveById, type Tenants } from '#features/tenants/index.ts'
import { ownerOf } from '#infra/caller/index.ts'
import type { JobContext } from '#infra/jobs/index.ts'
import { Failure } from '#lib/failure.ts'
import type { updateAppJob } from '../apps-jobs.ts'
import { findNoted } from '../offers/offer-store.ts'
import { type InstallDeps, installApp } from './install-app.ts'
import { findInstalled } from './installed-app-store.ts'

export interface UpdateDeps extends InstallDeps {
  readonly tenants: Tenants
}

/** Does the work of `updateAppJob`: installs the version with the rights of the tenant itself, where `autoUpdate` is
 * still set. A failure that will not pass by itself is noted in the audit trail. */
export async function updateApp(
  deps: UpdateDeps,
  payload: Static<(typeof updateAppJob)['payload']>,
  { tenantId, signal }: Pick<JobContext, 'tenantId' | 'signal'>,
): Promise<void> {
  const actionId = payload.actionId as ActionId
  const tenant = await findActiveById(deps.tenants, tenantId)
  const reader = deps.db.reader(tenantId)
  const offer = await findNoted(reader, actionId)
  if (!tenant || !offer || !(await findInstalled(reader, offer))?.autoUpdate) return
  try {
    await installApp(deps, { tenant, caller: ownerOf(tenant), actionId, isByItself: true, signal })
  } catch (error) {
    if (!(error instanceof Failure) || error.code === 'E-UNAVAILABLE' || error.code === 'E-QUOTA') throw error
    // Not offered to it any more, or no longer the newest.
    if (error.code === 'E-ACTION-NOTFOUND' || error.code === 'E-STATE') return
    const { publisherTag, name, version } = offer
    const details = { publisherTag, name, version, code: error.code, reason: error.details?.reason }
    await deps.db.transact(tenantId, (tx) => audit(deps, tx, { event: 'app.upgrade-refused', details }))
  }
}
