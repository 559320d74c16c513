import type { IdTag, LoginSession } from '@kith/protocol'
import { audit } from '#features/audit/index.ts'
import { getSignInEpoch, type SignInEpoch } from '#features/tenants/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import { serverTenant, type TenantId } from '#infra/db/index.ts'
import { rateKeyOf } from '#infra/http/index.ts'
import { Failure } from '#lib/failure.ts'
import { setPassword } from '../account.ts'
import { findAccount } from '../account-store.ts'
import { type MailDeps, mailWithinLimits } from '../passwords/mail-within-limits.ts'
import type { PasswordHasher } from '../passwords/password-hasher.ts'
import { hasSignedInFrom } from '../sessions/session-store.ts'
import type { Device } from '../sessions/start-session.ts'
import { type AttemptBucket, signInBuckets, signInTurn } from './attempt-buckets.ts'
import {
  answerLogin,
  type CompleteLoginDeps,
  getActiveTenant,
  startPersonalSession,
} from './complete-login.ts'
import { countAttempt, forgiveAttempt } from './count-attempt.ts'
import { logFailedSignIn } from './log-failed-sign-in.ts'

const verifyValidSecs = 24 * 3600

export interface LoginDeps extends CompleteLoginDeps, MailDeps {
  readonly passwords: PasswordHasher
  requiresVerifiedEmail(tenantId: TenantId): Promise<boolean>
}

interface LoginInput {
  readonly tenant: Tenant
  readonly idTag: IdTag
  readonly password: string
  readonly device: Device
}

/** Signs the owner of the host's tenant in. Another identity, a tenant without a password and a wrong password are the
 * same `E-AUTH-BADCRED` after the same work. */
export async function login(deps: LoginDeps, input: LoginInput): Promise<LoginSession> {
  const { db } = deps
  const { tenant, idTag, password, device } = input
  const { isBase } = await getActiveTenant(deps, tenant)
  const reader = db.reader(tenant.tenantId)
  const isKnown = await hasSignedInFrom(reader, tenant.idTag, device.ip)
  const place = rateKeyOf(device.ip)
  const buckets = signInBuckets(tenant.tenantId, serverTenant, { idTag, place, isKnown })
  const turn = isKnown ? undefined : signInTurn(tenant.tenantId, { idTag, place })
  await countAttempt(deps, buckets, turn)
  const epoch = await getSignInEpoch(reader)
  const account = await findAccount(reader)
  const ownHash = idTag === tenant.idTag ? account?.passwordHash : undefined
  const { isRight, isOutdated } = await deps.passwords.check(password, ownHash)
  if (!isRight) return refuse(deps, input)
  // An administrator without an address could not turn the setting off again.
  const isExempt = isBase && account?.email === undefined
  if (!account?.emailVerifiedAt && !isExempt && (await deps.requiresVerifiedEmail(tenant.tenantId)))
    return askToVerify(deps, tenant)
  return enter(deps, input, {
    buckets,
    epoch,
    newHash: isOutdated ? await deps.passwords.hash(password) : undefined,
  })
}

async function refuse(deps: LoginDeps, { tenant, idTag, device }: LoginInput): Promise<never> {
  const { db, clock } = deps
  logFailedSignIn(deps, { ip: device.ip, method: 'password', tenant, idTag })
  // Only for this account, which its bucket bounds: invented names would fill the audit log.
  if (idTag === tenant.idTag)
    await db.transact(tenant.tenantId, (tx) =>
      audit({ clock }, tx, { event: 'sign-in.failed', ip: device.ip, details: { method: 'password' } }),
    )
  throw new Failure('E-AUTH-BADCRED')
}

/** Mails the link that proves the address, once the password was right. */
async function askToVerify(deps: LoginDeps, { tenantId }: Tenant): Promise<never> {
  await deps.db.transact(tenantId, async (tx) => {
    await mailWithinLimits(deps, tx, { type: 'email-verify', validSecs: verifyValidSecs })
  })
  throw new Failure('E-AUTH-NOTVERIFIED')
}

async function enter(
  deps: LoginDeps,
  { tenant, device }: LoginInput,
  {
    buckets,
    epoch,
    newHash,
  }: { buckets: readonly AttemptBucket[]; epoch: SignInEpoch; newHash: string | undefined },
): Promise<LoginSession> {
  const lifetimes = await deps.findLifetimes(tenant.tenantId)
  const session = await deps.db.transact(tenant.tenantId, async (tx) => {
    // First, so that a hash of the old password never takes the place of a new one.
    const entry = { tenant, method: 'password', device, lifetimes, epoch } as const
    const started = await startPersonalSession(deps, tx, entry)
    await forgiveAttempt(tx, buckets)
    if (newHash !== undefined) await setPassword(deps, tx, newHash)
    return started
  })
  return answerLogin(deps, tenant, session)
}
