import { opensHistory, type StoredAction } from '#features/actions/index.ts'
import type { Database, TenantId, Writer } from '#infra/db/index.ts'
import type { Jobs } from '#infra/jobs/index.ts'
import { queueHistory } from './fetch-history.ts'

interface OpenedHistoryDeps {
  readonly db: Database
  readonly jobs: Pick<Jobs, 'enqueue'>
}

/** Queues fetching the history of an identity when the action arrives that lets the tenant read it: the answer to a
 * request of the tenant. A request that awaits an answer does not let it read anything yet. */
export async function queueReceivedHistory(
  deps: Pick<OpenedHistoryDeps, 'jobs'>,
  tx: Writer,
  action: StoredAction,
): Promise<void> {
  if (action.type !== 'FLLW' && opensHistory(action)) await queueHistory(deps, tx, action.issuerTag)
}

/** Queues fetching the history of an identity that has received the tenant's follow or connection, and so lets the
 * tenant read it. */
export async function queueDeliveredHistory(
  deps: OpenedHistoryDeps,
  tenantId: TenantId,
  action: StoredAction,
): Promise<void> {
  const other = opensHistory(action) ? action.audienceTag : undefined
  if (other) await deps.db.transact(tenantId, (tx) => queueHistory(deps, tx, other))
}
