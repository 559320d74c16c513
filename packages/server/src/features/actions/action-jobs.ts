import type { ActionId, IdTag } from '@kith/protocol'
import type { Tenant } from '#infra/caller/index.ts'
import { serverTenant, type TenantId } from '#infra/db/index.ts'
import { type Jobs, recurring } from '#infra/jobs/index.ts'
import { nowSecs } from '#lib/clock.ts'
import type { StoredAction } from './action.ts'
import { listExpired } from './action-lookup-store.ts'
import type { ActionPorts } from './action-ports.ts'
import { announceAction } from './community/announce-action.ts'
import { acceptAutomatically } from './compose/answer-action.ts'
import { publishScheduled } from './compose/change-draft.ts'
import { reconnect } from './compose/reconnect.ts'
import { countAction } from './counts/count-actions.ts'
import { passOnCounts, tellCounts } from './counts/tell-counts.ts'
import {
  acceptLaterJob,
  admitLaterJob,
  announceLaterJob,
  dropCopiesJob,
  passOnCountsJob,
  publishLaterJob,
  reconnectJob,
  tellCountsJob,
  withdrawSignedJob,
} from './job-kinds.ts'
import { admitWaiting } from './receive/pending-action.ts'
import { listUnanswered } from './removal/deleted-rows-store.ts'
import { dropCopies, dropCopiesLater } from './removal/drop-copies.ts'
import { eraseAction } from './removal/erase-store.ts'
import { sweepDeletedRows, sweepMemory, sweepSpentTokens } from './removal/sweep-memory.ts'
import { sweepTombstones } from './removal/tombstone-store.ts'
import { withdrawSigned } from './removal/withdraw-signed.ts'
import { compactSearch, indexBacklog } from './search/reindex-actions.ts'
import { hooksOf } from './types/index.ts'

interface ActionJobDeps extends ActionPorts {
  readonly jobs: Pick<Jobs, 'enqueue' | 'handle'>
  readonly findTenantById: (tenantId: TenantId) => Promise<Tenant | undefined>
}

const minuteMs = 60_000
// It writes the index anew, up to some hundred megabytes.
const compactedEveryMs = 7 * 86_400_000
// Includes a holiday, after which a request can still be answered.
const requestSecs = 90 * 86_400
// Small enough for a transaction that other writers wait for.
const perTransaction = 100

/** Registers the handlers of all jobs on actions. */
export function handleActionJobs(deps: ActionJobDeps): void {
  const { jobs, findTenantById } = deps
  recurring(jobs, { name: 'actions.sweep', everyMs: minuteMs, run: () => sweepActions(deps) })
  jobs.handle(withdrawSignedJob, ({ issuerTag, ...key }, { signal }) =>
    withdrawSigned(deps, { ...key, issuerTag: issuerTag as IdTag }, signal),
  )
  jobs.handle(reconnectJob, async ({ idTag }, { tenantId }) => {
    const tenant = await findTenantById(tenantId)
    if (tenant) await reconnect(deps, tenant, idTag as IdTag)
  })
  jobs.handle(dropCopiesJob, (payload, { tenantId }) => dropCopies(deps, tenantId, payload))
  recurring(jobs, {
    name: 'actions.sweep-remains',
    everyMs: 60 * minuteMs,
    run: async () => {
      await sweepSpentTokens(deps.db, nowSecs(deps.clock))
      await sweepDeletedRows(deps.db, nowSecs(deps.clock))
    },
  })
  recurring(jobs, {
    name: 'actions.compact-search',
    everyMs: compactedEveryMs,
    run: ({ signal }) => compactSearch(deps, signal),
  })
  recurring(jobs, {
    name: 'actions.index-backlog',
    everyMs: 60 * minuteMs,
    run: ({ signal }) => indexBacklog(deps, signal),
  })
  const work = [
    [publishLaterJob, publishScheduled],
    [acceptLaterJob, acceptAutomatically],
    [admitLaterJob, admitWaiting],
    [announceLaterJob, announceAction],
    [tellCountsJob, tellCounts],
  ] as const
  for (const [kind, run] of work)
    jobs.handle(kind, async ({ actionId }, { tenantId }) => {
      const tenant = await findTenantById(tenantId)
      if (tenant) await run(deps, tenant, actionId as ActionId)
    })
  handlePassedCounts(deps)
}

function handlePassedCounts(deps: ActionJobDeps): void {
  deps.jobs.handle(passOnCountsJob, async ({ actionId, passedId }, { tenantId }) => {
    const tenant = await deps.findTenantById(tenantId)
    if (tenant) await passOnCounts(deps, tenant, { actionId: actionId as ActionId, passedId })
  })
}

/** Ends expired actions and requests that were not answered; deletes old idempotency keys, reads, and rows of deleted
 * actions. */
async function sweepActions(deps: ActionJobDeps): Promise<void> {
  const now = nowSecs(deps.clock)
  await sweepMemory(deps.db, { now })
  while ((await forgetSome(deps, now)) === perTransaction);
  const reader = deps.db.reader(serverTenant)
  const limit = perTransaction
  while ((await endSome(deps, await listExpired(reader, now, limit), now)) === limit);
  while (
    (await endSome(deps, await listUnanswered(reader, { upTo: now - requestSecs, limit }), now)) === limit
  );
}

function forgetSome({ db }: ActionJobDeps, now: number): Promise<number> {
  return db.transact(serverTenant, (tx) => sweepTombstones(tx, now, perTransaction))
}

async function endSome(
  deps: ActionJobDeps,
  expired: readonly { readonly tenantId: TenantId; readonly action: StoredAction }[],
  now: number,
): Promise<number> {
  const tenants = new Map<TenantId, Tenant | undefined>()
  for (const { tenantId } of expired) tenants.set(tenantId, await deps.findTenantById(tenantId))
  await deps.db.transact(serverTenant, async (tx) => {
    for (const { tenantId, action } of expired) {
      const own = tx.as(tenantId)
      await eraseAction(own, action.actionId)
      const tenant = tenants.get(tenantId)
      if (!tenant) continue
      if (action.issuerTag !== tenant.idTag) await dropCopiesLater(deps, own, action)
      await countAction(deps, own, { tenant, action, by: -1 })
      await hooksOf(action.type).onEnd?.({ ports: deps, tx: own, tenant, action, at: now })
      await deps.emit(own, { kind: 'action.deleted', tenant, action: { ...action, status: 'D' } })
    }
  })
  return expired.length
}
