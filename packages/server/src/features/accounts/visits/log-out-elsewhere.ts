import { type IdTag, logOutVisitor } from '@kith/protocol'
import Type, { type Static } from 'typebox'
import { findRelation } from '#features/relations/index.ts'
import { findTenantById, findTenantByIdTag, type Tenants } from '#features/tenants/index.ts'
import type { Writer } from '#infra/db/index.ts'
import { type Egress, retryAfterMs } from '#infra/egress/index.ts'
import { type JobContext, type Jobs, JobVerdict, jobKind } from '#infra/jobs/index.ts'
import type { SigningKeys } from '#infra/keys/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { signIdentityToken } from '../sessions/identity-token.ts'
import type { RevokeDeps } from '../sessions/start-session.ts'
import { endVisits } from './take-logout.ts'
import { takeVisits, type VisitedHost } from './visited-host-store.ts'

/** Tells the host of another identity that what it was proved has ended: what was in a session (`sid`, as that host knows
 * it), or all that was issued up to a time (`before`, Unix seconds). */
export const logOutElsewhereJob = jobKind({
  name: 'accounts.log-out-elsewhere',
  payload: Type.Object({
    target: Type.Unsafe<IdTag>(Type.String()),
    sid: Type.Optional(Type.String()),
    before: Type.Optional(Type.Integer()),
  }),
  // A day: what is exchanged for a proxy token ends by itself within the hour, but a socket may be open for longer.
  retry: {
    maxAttempts: Number.MAX_SAFE_INTEGER,
    giveUpAfterMs: 86_400_000,
    firstDelayMs: 2_000,
    longestDelayMs: 600_000,
  },
  // Each holds its place for as long as the host takes to answer: those of other tenants must not wait for it.
  concurrency: 64,
  group: 'by tenant',
})

export interface QueueLogoutDeps {
  readonly jobs: Pick<Jobs, 'enqueueAll'>
  readonly clock: Clock
}

export interface LogoutDeps {
  readonly clock: Clock
  readonly keys: Pick<SigningKeys, 'sign'>
  readonly egress: Pick<Egress, 'request'>
  readonly tenants: Pick<Tenants, 'findById'>
  findServerUrl(idTag: IdTag, asker: IdTag): Promise<string | undefined>
}

// A token may be issued while the transaction commits that ends it.
const commitSecs = 2
const tokenSecs = 300
const maxAnswerBytes = 65_536
const timeoutMs = 3000
const longestPauseMs = 3_600_000
// Its clock may be wrong, or it could not get the key: it may know better soon.
const refusalsBelieved = 5

/** Logs a session of the owner out wherever it was shown. */
export async function logOutSession(deps: QueueLogoutDeps, tx: Writer, sid: string): Promise<void> {
  await queueForSessions(deps, tx, await takeVisits(tx, { sid }))
}

/** The same for visits of single sessions. */
export async function queueForSessions(
  { jobs }: QueueLogoutDeps,
  tx: Writer,
  visits: readonly VisitedHost[],
): Promise<void> {
  const payloads = visits.map(({ target, name }) => ({ target, sid: name }))
  await jobs.enqueueAll(
    tx,
    logOutElsewhereJob,
    payloads.map((payload) => ({ payload })),
  )
}

/** Logs the tenant of `tx` out wherever its owner was shown. */
export async function logOutEverywhere(deps: QueueLogoutDeps, tx: Writer): Promise<void> {
  await queueForIdentity(deps, tx, await takeVisits(tx, {}))
}

/** Logs the tenant of `tx` out at an identity that it blocks. */
export async function logOutOfBlocked(
  deps: QueueLogoutDeps & RevokeDeps,
  tx: Writer,
  target: IdTag,
): Promise<void> {
  if (!(await findRelation(tx, target))?.isBlocked) return
  await queueForIdentity(deps, tx, await takeVisits(tx, { target }))
  const [own, hosted] = [await findTenantById(tx, tx.tenantId), await findTenantByIdTag(tx, target)]
  if (!own || !hosted) return
  const issuedAt = nowSecs(deps.clock) + commitSecs
  await endVisits(deps, tx.as(hosted.tenantId), {
    ...{ issuerTag: own.idTag, issuedAt },
    end: { before: issuedAt },
  })
}

async function queueForIdentity(
  { jobs, clock }: QueueLogoutDeps,
  tx: Writer,
  visits: readonly VisitedHost[],
): Promise<void> {
  const before = nowSecs(clock) + commitSecs
  const targets = [...new Set(visits.map(({ target }) => target))]
  await jobs.enqueueAll(
    tx,
    logOutElsewhereJob,
    targets.map((target) => ({ payload: { target, before } })),
  )
}

/** Sends what was queued. */
export function handleLogouts(jobs: Pick<Jobs, 'handle'>, deps: LogoutDeps): void {
  jobs.handle(logOutElsewhereJob, (payload, context) => logOutElsewhere(deps, payload, context))
}

async function logOutElsewhere(
  deps: LogoutDeps,
  { target, sid, before }: Static<(typeof logOutElsewhereJob)['payload']>,
  { tenantId, attempt, signal }: JobContext,
): Promise<void> {
  const { clock, keys, egress } = deps
  const tenant = await deps.tenants.findById(tenantId)
  const serverUrl = tenant && (await deps.findServerUrl(target, tenant.idTag))
  if (!tenant || serverUrl === undefined) throw nobodyThere
  const issuedAt = nowSecs(clock)
  const token = await signIdentityToken(keys, tenant, {
    ...{ use: 'logout', target, issuedAt, expiresAt: issuedAt + tokenSecs, sid },
    more: before === undefined ? {} : { before },
  })
  const bytes = Buffer.from(token)
  const { status, headers } = await egress.request({
    method: 'POST',
    url: `${serverUrl}${logOutVisitor.path}`,
    headers: { 'content-type': 'application/jwt', accept: 'application/json' },
    body: { bytes: bytes.length, read: async () => bytes },
    maxBytes: maxAnswerBytes,
    timeoutMs,
    refusesRedirects: true,
    signal,
  })
  if (status >= 200 && status < 300) return
  const isTemporary = status >= 500 || status === 429 || status === 408
  if (!isTemporary && (status !== 401 || attempt >= refusalsBelieved))
    throw new JobVerdict(`HTTP ${status}`, { kind: 'dead', isExpected: true })
  const askedMs = retryAfterMs(headers['retry-after'], clock.now())
  const atMs = askedMs === undefined ? {} : { atMs: Math.min(askedMs, clock.now() + longestPauseMs) }
  throw new JobVerdict(`HTTP ${status}`, { kind: 'retry', ...atMs })
}

const nobodyThere = new JobVerdict('one of the two is no more', { kind: 'dead', isExpected: true })
