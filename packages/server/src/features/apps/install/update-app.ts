import type { ActionId } from '@kith/protocol'
import type { Static } from 'typebox'
import { audit } from '#features/audit/index.ts'
import { findActiveById, type Tenants } from '#features/tenants/index.ts'
import { ownerOf } from '#infra/caller/index.ts'
import { type Database, serverTenant, type TenantId } from '#infra/db/index.ts'
import type { JobContext, Jobs } from '#infra/jobs/index.ts'
import { Failure } from '#lib/failure.ts'
import { offerUpdatesJob, updateAppJob } from '../apps-jobs.ts'
import { findOfferedApp } from '../offers/offer-store.ts'
import { type InstallDeps, installApp } from './install-app.ts'
import { findInstalled, listUpdated } from './installed-app-store.ts'

interface OfferDeps {
  readonly db: Database
  readonly jobs: Pick<Jobs, 'enqueue'>
}

const tenantsPerPortion = 100

/** Does the work of `offerUpdatesJob` for the publisher of the job. */
export async function offerUpdates(
  { db, jobs }: OfferDeps,
  { actionId, after }: Static<(typeof offerUpdatesJob)['payload']>,
  { tenantId: publisherId }: Pick<JobContext, 'tenantId'>,
): Promise<void> {
  const offer = await findOfferedApp(db.reader(serverTenant), actionId as ActionId)
  if (!offer) return
  const page = { publisherId, name: offer.name, after: after as TenantId, limit: tenantsPerPortion }
  const tenantIds = await listUpdated(db.reader(serverTenant), page)
  const last = tenantIds.at(-1)
  if (last === undefined) return
  await db.transact(publisherId, async (tx) => {
    for (const tenantId of tenantIds)
      await jobs.enqueue(tx.as(tenantId), updateAppJob, { actionId }, { dedupKey: actionId })
    if (tenantIds.length === tenantsPerPortion)
      await jobs.enqueue(tx, offerUpdatesJob, { actionId, after: last })
  })
}

interface UpdateDeps extends InstallDeps {
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
  const offer = await findOfferedApp(deps.db.reader(serverTenant), actionId)
  if (!tenant || !offer) return
  const installed = await findInstalled(deps.db.reader(tenantId), offer)
  if (!installed?.autoUpdate || installed.publisherId !== offer.publisherId) return
  try {
    await installApp(deps, { tenant, caller: ownerOf(tenant), actionId, signal })
  } catch (error) {
    if (!(error instanceof Failure) || error.code === 'E-UNAVAILABLE' || error.code === 'E-QUOTA') throw error
    // Not offered to it any more, or no longer the newest.
    if (error.code === 'E-ACTION-NOTFOUND' || error.code === 'E-STATE') return
    const { publisherTag, name, version } = offer
    const details = { publisherTag, name, version, code: error.code, reason: error.details?.reason }
    await deps.db.transact(tenantId, (tx) => audit(deps, tx, { event: 'app.upgrade-refused', details }))
  }
}
