import { historyLimits, type IdTag, parseActionToken } from '@kith/protocol'
import { hashOfToken } from '#features/actions/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import type { Writer } from '#infra/db/index.ts'
import type { JobContext, Jobs } from '#infra/jobs/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { applyWithdrawals } from './apply-withdrawals.ts'
import type { CheckedToken, Delivery } from './check-token.ts'
import { fetchHistoryJob } from './inbox-jobs.ts'
import type { ReceiveDeps } from './receive-deps.ts'
import { checkAgain, findConcernedBy, isSuspended, storeToken } from './store-token.ts'
import { verifyLater } from './verify-later.ts'
import { isGenuine, waitingSender } from './verify-token.ts'

export interface HistoryDeps extends ReceiveDeps {
  /** The tokens of what an identity published since then (Unix seconds) and the tenant may read, oldest first. */
  readonly requestHistory: (
    tenant: Tenant,
    idTag: IdTag,
    options: { readonly since: number; readonly signal: AbortSignal },
  ) => Promise<readonly string[]>
}

/** Queues fetching the history of an identity for the tenant of `tx`. */
export async function queueHistory(
  { jobs }: { readonly jobs: Pick<Jobs, 'enqueue'> },
  tx: Writer,
  idTag: IdTag,
): Promise<void> {
  await jobs.enqueue(tx, fetchHistoryJob, { idTag }, { groupKey: idTag, dedupKey: idTag })
}

/** Receives what an identity published before the tenant followed it, as if it arrived now: each token is verified, and
 * stored if it concerns the tenant. */
export async function fetchHistory(
  deps: HistoryDeps,
  payload: { readonly idTag: string },
  { tenantId, signal }: Pick<JobContext, 'tenantId' | 'signal'>,
): Promise<void> {
  const idTag = payload.idTag as IdTag
  const tenant = await deps.findTenantById(tenantId)
  if (!tenant || isSuspended(tenant) || (await deps.isBlockedHere(idTag))) return
  const since = nowSecs(deps.clock) - historyLimits.maxAgeSecs
  const texts = await deps.requestHistory(tenant, idTag, { since, signal })
  for (const delivery of pairAnnounced(texts.slice(0, historyLimits.maxTokens))) {
    const token = checkAgain(delivery, nowSecs(deps.clock))
    if (!token || !isAbout(token, idTag) || !(await isUsable(deps, token, idTag))) continue
    await applyWithdrawals(deps, token)
    if (await concerns(deps, token, tenant)) await storeToken(deps, token, [tenant])
  }
}

/** Others' tokens count only beside an announcement, except their counts: these are about their own actions, and
 * accepted from any source. */
function isAbout({ issuerTag, payload }: CheckedToken, idTag: IdTag): boolean {
  return issuerTag === idTag || payload.type === 'STAT'
}

/** Every token, and with an announcement the token that it announces, which is elsewhere in the same list. */
function pairAnnounced(texts: readonly string[]): Delivery[] {
  const byHash = new Map(texts.map((text) => [hashOfToken(text), text]))
  return texts.map((token) => {
    const parsed = parseActionToken(token)
    const { content } = 'problem' in parsed ? {} : (parsed.payload as { content?: { hash?: unknown } })
    const beside = typeof content?.hash === 'string' ? byHash.get(content.hash) : undefined
    return { token, ...(beside === undefined ? {} : { beside }) }
  })
}

/** A history does not wait for the server of another issuer: a token that cannot be verified now is queued to be
 * verified later. */
async function isUsable(deps: HistoryDeps, token: CheckedToken, idTag: IdTag): Promise<boolean> {
  const { issuerTag } = token.announced ?? token
  if (issuerTag === idTag) return await isGenuine(deps, token)
  if (await deps.isBlockedHere(issuerTag)) return false
  try {
    if ((await deps.verifier.verify(token, waitingSender)) === true) return true
    await verifyLater(deps, token, waitingSender)
  } catch (error) {
    if (!(error instanceof Failure)) throw error
  }
  return false
}

async function concerns(deps: HistoryDeps, token: CheckedToken, tenant: Tenant): Promise<boolean> {
  const concerned = await findConcernedBy(deps, token)
  return concerned.some(({ tenantId }) => tenantId === tenant.tenantId)
}
