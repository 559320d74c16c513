import { historyLimits, type IdTag } from '@kith/protocol'
import type { Tenant } from '#infra/caller/index.ts'
import { serverTenant, type Writer } from '#infra/db/index.ts'
import type { JobContext, Jobs } from '#infra/jobs/index.ts'
import { nowSecs } from '#lib/clock.ts'
import type { CheckedToken } from './check-token.ts'
import { fetchHistoryJob } from './inbox-jobs.ts'
import type { ReceiveDeps } from './receive-deps.ts'
import { checkAgain, isSuspended, storeToken } from './store-token.ts'
import { isGenuine } from './verify-later.ts'
import { heedWithdrawals } from './withdrawals.ts'

export interface HistoryDeps extends ReceiveDeps {
  /** The tokens of what an identity published since then (Unix seconds) and the tenant may read, oldest first. */
  readonly requestHistory: (
    tenant: Tenant,
    idTag: IdTag,
    options: { readonly since: number; readonly signal: AbortSignal },
  ) => Promise<readonly string[]>
}

/** Asks for what an identity has published lately, for the tenant of `tx`. */
export async function queueHistory(
  { jobs }: { readonly jobs: Pick<Jobs, 'enqueue'> },
  tx: Writer,
  idTag: IdTag,
): Promise<void> {
  await jobs.enqueue(tx, fetchHistoryJob, { idTag }, { groupKey: idTag, dedupKey: idTag })
}

/** Receives what an identity published before the tenant followed it, as if it arrived now: each token is verified, and
 * stored where it concerns the tenant. */
export async function fetchHistory(
  deps: HistoryDeps,
  payload: { readonly idTag: string },
  { tenantId, signal }: Pick<JobContext, 'tenantId' | 'signal'>,
): Promise<void> {
  const idTag = payload.idTag as IdTag
  const tenant = await deps.findTenantById(tenantId)
  if (!tenant || isSuspended(tenant) || (await deps.isShunned(idTag))) return
  const since = nowSecs(deps.clock) - historyLimits.maxAgeSecs
  const texts = await deps.requestHistory(tenant, idTag, { since, signal })
  for (const text of texts.slice(0, historyLimits.maxItems)) {
    const token = checkAgain(text, nowSecs(deps.clock))
    if (token?.issuerTag !== idTag || !(await isGenuine(deps, token))) continue
    await heedWithdrawals(deps, token)
    if (await concerns(deps, token, tenant)) await storeToken(deps, token, [tenant])
  }
}

async function concerns(deps: HistoryDeps, { payload }: CheckedToken, tenant: Tenant): Promise<boolean> {
  const concerned = await deps.findConcerned(deps.db.reader(serverTenant), payload)
  return concerned.some(({ tenantId }) => tenantId === tenant.tenantId)
}
