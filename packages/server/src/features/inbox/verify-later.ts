import { createHash } from 'node:crypto'
import { serverTenant } from '#infra/db/index.ts'
import { countQueued, type JobContext, JobVerdict } from '#infra/jobs/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import type { CheckedToken } from './check-token.ts'
import { verifyLaterJob } from './inbox-jobs.ts'
import type { ReceiveDeps } from './receive-deps.ts'
import { checkAgain, storeLater } from './store-token.ts'

// Anybody can name issuers under a domain of their own: they share one bound and one queue.
const maxWaitingPerDomain = 200
const maxWaitingMs = 24 * 3_600_000

/** Keeps a token until the keys of its issuer can be had. One that concerns nobody here is not kept, and the sender is
 * not told: until its signature is verified it may be anybody's. */
export async function verifyLater(deps: ReceiveDeps, token: CheckedToken): Promise<void> {
  const concerned = await deps.findConcerned(deps.db.reader(serverTenant), token.payload)
  if (concerned.length === 0) return
  const { getDomain } = await import('tldts')
  const groupKey = getDomain(token.issuerTag) ?? token.issuerTag
  // By its text: a forged token that names the same action must not take the place of the true one.
  const dedupKey = createHash('sha256').update(token.text).digest('base64url')
  await deps.db.transact(serverTenant, async (tx) => {
    const waiting = { kind: verifyLaterJob.name, groupKey, atMost: maxWaitingPerDomain }
    if ((await countQueued(tx, waiting)) >= maxWaitingPerDomain) throw new Failure('E-UNAVAILABLE')
    await deps.jobs.enqueue(tx, verifyLaterJob, { token: token.text }, { groupKey, dedupKey })
  })
}

/** Tries again to verify a token that waited for its issuer's key, and hands it on. */
export async function verifyWaitingToken(
  deps: ReceiveDeps,
  { token: text }: { readonly token: string },
  context: Pick<JobContext, 'createdAtMs'>,
): Promise<void> {
  const token = checkAgain(text, nowSecs(deps.clock))
  if (!token || context.createdAtMs + maxWaitingMs <= deps.clock.now()) return
  if (await deps.isShunned((token.announced ?? token).issuerTag)) return
  if (!(await isGenuine(deps, token))) return
  await storeLater(deps, token, await deps.findConcerned(deps.db.reader(serverTenant), token.payload))
}

// The look-ups of tokens that wait, whoever sent them, are spaced by their jobs.
const waitingSender = 'waiting'

/** False for good; a job that cannot know yet is tried again. */
export async function isGenuine(deps: Pick<ReceiveDeps, 'verifier'>, token: CheckedToken): Promise<boolean> {
  try {
    if ((await deps.verifier.verify(token, waitingSender)) !== 'unreachable') return true
  } catch (error) {
    if (error instanceof Failure && error.code === 'E-AUTH-UNAUTH') return false
    throw error
  }
  throw new JobVerdict('the issuer’s key cannot be had', { kind: 'retry' })
}
