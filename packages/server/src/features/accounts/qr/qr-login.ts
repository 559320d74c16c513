import { timingSafeEqual } from 'node:crypto'
import { type LoginSession, type QrSecret, type QrStatus, toIso } from '@kith/protocol'
import { audit } from '#features/audit/index.ts'
import type { Identified, Tenant } from '#infra/caller/index.ts'
import type { Reader, Writer } from '#infra/db/index.ts'
import { rateKeyOf } from '#infra/http/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { Failure, unauthenticated } from '#lib/failure.ts'
import { assertSessionLives } from '../sessions/personal-caller.ts'
import { secretHash } from '../sessions/session.ts'
import { findSession } from '../sessions/session-store.ts'
import type { Device } from '../sessions/start-session.ts'
import {
  answerLogin,
  type CompleteLoginDeps,
  getActiveTenant,
  startPersonalSession,
} from '../sign-in/complete-login.ts'
import { type ApproverProof, type ProveApproverDeps, proveApprover } from './prove-approver.ts'
import { codeOf, newQrSession, type QrSession, qrLifeSecs, statusOf } from './qr-session.ts'
import {
  countOpen,
  deleteOldestQrSession,
  deleteQrSessions,
  denyApproved,
  findQrSession,
  insertQrSession,
  markDelivered,
  putAnswer,
} from './qr-store.ts'
import type { QrWaiters } from './qr-waiters.ts'

export interface QrLoginDeps extends CompleteLoginDeps {
  readonly qrWaiters: QrWaiters
}

export type AnswerQrDeps = QrLoginDeps & ProveApproverDeps

const maxOpenOfTenant = 5000
const maxOpenOfNetwork = 20
const maxUserAgentLength = 512

/** Opens a QR session for the device that asks; `E-RATELIMIT` when the tenant has as many as it may. A network that has
 * some loses its oldest, so that other networks cannot block it. */
export async function initQrLogin(
  deps: Pick<CompleteLoginDeps, 'db' | 'clock' | 'tenants'>,
  { tenant, device }: { tenant: Tenant; device: Device },
): Promise<QrSecret> {
  await getActiveTenant(deps, tenant)
  const made = newQrSession()
  const { ip, userAgent } = device
  const network = rateKeyOf(ip)
  await deps.db.transact(tenant.tenantId, async (tx) => {
    const now = nowSecs(deps.clock)
    // Ended sessions are kept for as long again, so that a late poll is told that they have expired.
    await deleteQrSessions(tx, now - qrLifeSecs)
    const { ofTenant, ofNetwork } = await countOpen(tx, { network, now })
    if (ofTenant >= maxOpenOfTenant && ofNetwork === 0)
      throw new Failure('E-RATELIMIT', { retryAfterSecs: 60, limit: maxOpenOfTenant })
    if (ofTenant >= maxOpenOfTenant || ofNetwork >= maxOpenOfNetwork) await deleteOldestQrSession(tx, network)
    await insertQrSession(tx, {
      sessionId: made.sessionId,
      secretHash: secretHash(made.secret),
      isDelivered: false,
      createdAt: now,
      expiresAt: now + qrLifeSecs,
      ip,
      network,
      ...(userAgent === undefined ? {} : { userAgent: userAgent.slice(0, maxUserAgentLength) }),
    })
  })
  return { ...made, code: codeOf(made.sessionId) }
}

interface PollInput {
  readonly tenant: Tenant
  readonly sessionId: string
  readonly secret: string | undefined
  readonly timeoutSecs: number
  readonly signal: AbortSignal
}

/** Waits until there is an answer, or the time is over. The login of an approved session is handed out once. */
export async function pollQrLogin(
  deps: QrLoginDeps,
  { tenant, sessionId, secret, timeoutSecs, signal }: PollInput,
): Promise<{ status: QrStatus; login?: LoginSession }> {
  if (secret === undefined) throw unauthenticated('missing')
  const reader = deps.db.reader(tenant.tenantId)
  const untilMs = deps.clock.now() + timeoutSecs * 1000
  const answered = await deps.qrWaiters.wait({ sessionId, untilMs, signal }, async () => {
    const session = await getWithSecret(reader, sessionId, secret)
    const status = statusOf(session, nowSecs(deps.clock))
    return status === 'pending' ? undefined : { status, session }
  })
  if (!answered) return { status: 'pending' }
  return answered.status === 'approved'
    ? deliver(deps, tenant, answered.session)
    : { status: answered.status }
}

/** What the person should check before they answer. */
export async function getQrDetails(
  deps: Pick<QrLoginDeps, 'db' | 'clock' | 'findOwnProfile'>,
  { tenant, sessionId }: { tenant: Tenant; sessionId: string },
) {
  const session = await findQrSession(deps.db.reader(tenant.tenantId), sessionId)
  if (!session || session.expiresAt <= nowSecs(deps.clock)) throw new Failure('E-NOTFOUND')
  const profile = await deps.findOwnProfile(tenant)
  return {
    sessionId,
    idTag: tenant.idTag,
    name: profile?.name ?? tenant.idTag,
    code: codeOf(sessionId),
    ipAddress: session.ip,
    userAgent: session.userAgent ?? null,
    createdAt: toIso(session.createdAt),
  }
}

interface AnswerInput extends ApproverProof {
  readonly tenant: Tenant
  readonly caller: Identified
  readonly sessionId: string
  readonly approved: boolean
  readonly ip: string
}

/** Signs the asking device in, or refuses it. An API key or a guest may not: it would gain a full session. */
export async function answerQrLogin(deps: AnswerQrDeps, input: AnswerInput): Promise<{ status: QrStatus }> {
  const { tenant, caller, sessionId, approved, ip } = input
  const status = approved ? 'approved' : 'denied'
  const useProof = approved ? await proveApprover(deps, input) : undefined
  await deps.db.transact(tenant.tenantId, async (tx) => {
    await assertSessionLives(deps, tx, caller)
    const session = await findQrSession(tx, sessionId)
    if (!session) throw new Failure('E-NOTFOUND')
    const now = nowSecs(deps.clock)
    if (!(await putAnswer(tx, { sessionId, answer: status, inSession: caller.sessionId, now })))
      throw new Failure('E-STATE')
    if (useProof && !(await useProof(tx))) throw new Failure('E-AUTH-BADCRED')
    const details = { askedFrom: session.ip }
    await audit(deps, tx, { event: `qr.${status}`, actorTag: caller.idTag, ip, details })
    tx.afterCommit(() => deps.qrWaiters.wake(sessionId))
  })
  return { status }
}

/** Hands the login out, unless the session in which it was approved has ended meanwhile: then it is denied. */
async function deliver(
  deps: QrLoginDeps,
  tenant: Tenant,
  { sessionId, ip, userAgent }: QrSession,
): Promise<{ status: QrStatus; login?: LoginSession }> {
  await getActiveTenant(deps, tenant)
  const lifetimes = await deps.findLifetimes(tenant.tenantId)
  const outcome = await deps.db.transact(tenant.tenantId, async (tx) => {
    const now = nowSecs(deps.clock)
    const session = await findQrSession(tx, sessionId)
    if (session?.isDelivered) return undefined
    if (!session || !(await isApprovalGood(tx, session, now))) {
      await denyApproved(tx, sessionId)
      return 'denied'
    }
    if (!(await markDelivered(tx, sessionId, now))) return undefined
    return startPersonalSession(deps, tx, { tenant, method: 'qr', device: { ip, userAgent }, lifetimes })
  })
  if (outcome === 'denied') return { status: 'denied' }
  return { status: 'approved', ...(outcome ? { login: await answerLogin(deps, tenant, outcome) } : {}) }
}

async function isApprovalGood(tx: Writer, { approvedIn }: QrSession, now: number): Promise<boolean> {
  const approver = approvedIn === undefined ? undefined : await findSession(tx, approvedIn)
  return approver !== undefined && (approver.expiresAt ?? Number.POSITIVE_INFINITY) > now
}

/** A wrong secret is answered like an unknown session. */
async function getWithSecret(reader: Reader, sessionId: string, secret: string): Promise<QrSession> {
  const session = await findQrSession(reader, sessionId)
  const shown = Buffer.from(secretHash(secret))
  const expected = Buffer.from(session?.secretHash ?? secretHash(''))
  if (!timingSafeEqual(shown, expected) || !session) throw new Failure('E-NOTFOUND')
  return session
}
