import type { ActionId, IdTag } from '@kith/protocol'
import type { Tenant } from '#infra/caller/index.ts'
import { serverTenant, type TenantId } from '#infra/db/index.ts'
import type { Jobs } from '#infra/jobs/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { listExpired } from './action-lookup-store.ts'
import type { ActionPorts } from './action-ports.ts'
import { setStatus } from './action-store.ts'
import { announceAction } from './announce-action.ts'
import { acceptUnasked } from './answer-action.ts'
import { publishScheduled } from './change-draft.ts'
import { countAction } from './count-actions.ts'
import { sweepKeys } from './idempotency-store.ts'
import {
  acceptLaterJob,
  admitLaterJob,
  announceLaterJob,
  publishLaterJob,
  sweepActionsJob,
  tellCountsJob,
  withdrawSignedJob,
} from './job-kinds.ts'
import { admitWaiting } from './pending-action.ts'
import { sweepViews } from './reader-store.ts'
import { sweepStrangerRows } from './stranger-budget-store.ts'
import { tellCounts } from './tell-counts.ts'
import { sweepTombstones } from './tombstone-store.ts'
import { hooksOf } from './types/index.ts'
import { withdrawSigned } from './withdraw-signed.ts'

export interface ActionJobDeps extends ActionPorts {
  readonly jobs: Pick<Jobs, 'enqueue' | 'handle' | 'every'>
  readonly findTenantById: (tenantId: TenantId) => Promise<Tenant | undefined>
}

const minuteMs = 60_000
const daySecs = 86_400
// A transaction of this many is short enough for others to wait for.
const perTransaction = 100

/** Registers everything that actions do later. */
export function handleActionJobs(deps: ActionJobDeps): void {
  const { jobs, findTenantById } = deps
  jobs.handle(sweepActionsJob, () => sweepActions(deps))
  jobs.every(sweepActionsJob, minuteMs)
  jobs.handle(withdrawSignedJob, ({ issuerTag, ...key }, { signal }) =>
    withdrawSigned(deps, { ...key, issuerTag: issuerTag as IdTag }, signal),
  )
  const work = [
    [publishLaterJob, publishScheduled],
    [acceptLaterJob, acceptUnasked],
    [admitLaterJob, admitWaiting],
    [announceLaterJob, announceAction],
    [tellCountsJob, tellCounts],
  ] as const
  for (const [kind, run] of work)
    jobs.handle(kind, async ({ actionId }, { tenantId }) => {
      const tenant = await findTenantById(tenantId)
      if (tenant) await run(deps, tenant, actionId as ActionId)
    })
}

/** Ends actions whose time is over, and forgets keys and readers that are no longer needed. */
async function sweepActions(deps: ActionJobDeps): Promise<void> {
  const now = nowSecs(deps.clock)
  await deps.db.transact(serverTenant, async (tx) => {
    await sweepKeys(tx, now)
    await sweepViews(tx, Math.floor(now / daySecs))
    await sweepStrangerRows(tx, Math.floor(now / daySecs))
  })
  while ((await forgetSome(deps, now)) === perTransaction);
  while ((await expireSome(deps, now)) === perTransaction);
}

function forgetSome({ db }: ActionJobDeps, now: number): Promise<number> {
  return db.transact(serverTenant, (tx) => sweepTombstones(tx, now, perTransaction))
}

async function expireSome(deps: ActionJobDeps, now: number): Promise<number> {
  const expired = await listExpired(deps.db.reader(serverTenant), now, perTransaction)
  const tenants = new Map<TenantId, Tenant | undefined>()
  for (const { tenantId } of expired) tenants.set(tenantId, await deps.findTenantById(tenantId))
  await deps.db.transact(serverTenant, async (tx) => {
    for (const { tenantId, action } of expired) {
      const own = tx.as(tenantId)
      await setStatus(own, action.actionId, 'D')
      const tenant = tenants.get(tenantId)
      if (!tenant) continue
      await countAction(deps, own, { tenant, action, by: -1 })
      await hooksOf(action.type).onEnd?.({ ports: deps, tx: own, tenant, action, at: now })
      await deps.onStored(own, { kind: 'deleted', tenant, action: { ...action, status: 'D' } })
    }
  })
  return expired.length
}
