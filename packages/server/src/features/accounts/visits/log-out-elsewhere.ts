import { type IdTag, logOutVisitor } from '@kith/protocol'
import Type, { type Static } from 'typebox'
import { findRelation } from '#features/relations/index.ts'
import type { Tenants } from '#features/tenants/index.ts'
import type { Writer } from '#infra/db/index.ts'
import { type Egress, retryAfterMs } from '#infra/egress/index.ts'
import { type JobContext, type Jobs, JobVerdict, jobKind } from '#infra/jobs/index.ts'
import type { SigningKeys } from '#infra/keys/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { signIdentityToken } from '../sessions/identity-token.ts'
import { secretHash } from '../sessions/session.ts'
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
  concurrency: 16,
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
// It does not know of logouts, or nothing of the tenant's.
const finalStatuses = new Set([400, 401, 403, 404, 405, 410])

/** The name of a session at the host of another identity, which knows it and no other host does. */
export function sidElsewhere(sid: string, target: IdTag): string {
  return secretHash(`${sid}\n${target}`)
}

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
  const payloads = visits.map(({ target, sid }) => ({ target, sid: sidElsewhere(sid, target) }))
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
export async function logOutOfBlocked(deps: QueueLogoutDeps, tx: Writer, target: IdTag): Promise<void> {
  if ((await findRelation(tx, target))?.isBlocked)
    await queueForIdentity(deps, tx, await takeVisits(tx, { target }))
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
  { tenantId, signal }: JobContext,
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
    signal,
  })
  if (status === 200) return
  if (finalStatuses.has(status)) throw new JobVerdict(`HTTP ${status}`, { kind: 'dead', isExpected: true })
  const atMs = retryAfterMs(headers['retry-after'], clock.now())
  throw new JobVerdict(`HTTP ${status}`, { kind: 'retry', ...(atMs === undefined ? {} : { atMs }) })
}

const nobodyThere = new JobVerdict('one of the two is no more', { kind: 'dead', isExpected: true })
