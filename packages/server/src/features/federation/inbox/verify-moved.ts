import type { ActionId, IdTag } from '@kith/protocol'
import { listUnverified, listUnverifiedIssuers, readActionToken } from '#features/actions/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import type { Writer } from '#infra/db/index.ts'
import { type JobContext, type Jobs, JobVerdict } from '#infra/jobs/index.ts'
import { verifyMovedJob } from './inbox-jobs.ts'
import type { ReceiveDeps } from './receive-deps.ts'
import type { TokenVerifier } from './verify-token.ts'

export interface VerifyMovedDeps extends Pick<ReceiveDeps, 'db' | 'clock' | 'findTenantById'> {
  readonly verifier: Pick<TokenVerifier, 'verifyMoved'>
  /** The signature of an action that an import has brought along is its issuer's. */
  confirmAction(
    tx: Writer,
    confirmed: { readonly tenant: Tenant; readonly actionId: ActionId },
  ): Promise<void>
}

const issuersAtOnce = 200
const tokensAtOnce = 100
const longestTriedMs = 30 * 86_400_000

/** Queues the verification of all tokens that an import has brought along to the tenant of `tx`, one job for each
 * issuer. */
export async function queueVerification(
  { jobs }: { readonly jobs: Pick<Jobs, 'enqueueAll'> },
  tx: Writer,
): Promise<void> {
  let issuers: IdTag[]
  let after = ''
  do {
    issuers = await listUnverifiedIssuers(tx, { after, limit: issuersAtOnce })
    await jobs.enqueueAll(
      tx,
      verifyMovedJob,
      issuers.map((issuerTag) => ({
        payload: { issuerTag },
        options: { groupKey: issuerTag, dedupKey: issuerTag },
      })),
    )
    after = issuers.at(-1) ?? ''
  } while (issuers.length === issuersAtOnce)
}

/** Does the work of `verifyMovedJob`. What its issuer has not signed, or with a key that it does not show any more,
 * stays unverified. Throws for a retry when the keys cannot be fetched yet. */
export async function verifyMoved(
  deps: VerifyMovedDeps,
  payload: { readonly issuerTag: string },
  { tenantId, createdAtMs, signal }: Pick<JobContext, 'tenantId' | 'createdAtMs' | 'signal'>,
): Promise<void> {
  const tenant = await deps.findTenantById(tenantId)
  if (!tenant || createdAtMs + longestTriedMs <= deps.clock.now()) return
  const issuerTag = payload.issuerTag as IdTag
  const reader = deps.db.reader(tenantId)
  let after = 0
  while (!signal.aborted) {
    const page = await listUnverified(reader, { issuerTag, after, limit: tokensAtOnce })
    const verdicts = await Promise.all(page.map(({ token }) => isIssuers(deps, token, tenant)))
    const confirmed = page.filter((_, at) => verdicts[at])
    await deps.db.transact(tenantId, async (tx) => {
      for (const { actionId } of confirmed) await deps.confirmAction(tx, { tenant, actionId })
    })
    const last = page.at(-1)
    if (!last || page.length < tokensAtOnce) return
    after = last.seq
  }
}

async function isIssuers(
  { verifier }: Pick<VerifyMovedDeps, 'verifier'>,
  text: string,
  { idTag }: Tenant,
): Promise<boolean> {
  // What cannot be looked up is charged to the tenant that has brought it along.
  const verdict = await verifier.verifyMoved(readActionToken(text), `moved ${idTag}`)
  if (verdict === 'unreachable') throw new JobVerdict('the issuer’s key cannot be had', { kind: 'retry' })
  return verdict
}
