import type { LoginSession, Scope } from '@kith/protocol'
import { audit } from '#features/audit/index.ts'
import type { HostedTenant, SignInEpoch, Tenants } from '#features/tenants/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import type { Database, TenantId, Writer } from '#infra/db/index.ts'
import type { Emit } from '#infra/events/index.ts'
import type { Vault } from '#infra/keys/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { serviceWorkerKey } from '../account.ts'
import { findAccount } from '../account-store.ts'
import { describeEmail } from '../email/email-address.ts'
import type { AccountEvent } from '../events.ts'
import { type IssueDeps, issueToken, rolesOf } from '../sessions/issue-token.ts'
import type { Session, SessionMethod, TokenLifetimes } from '../sessions/session.ts'
import { type Device, startSession } from '../sessions/start-session.ts'
import type { FailedSignInDeps } from './log-failed-sign-in.ts'

/** What every way of signing in ends with. */
export interface CompleteLoginDeps extends IssueDeps, FailedSignInDeps {
  readonly db: Database
  readonly vault: Vault
  readonly tenants: Pick<Tenants, 'findById'>
  readonly emit: Emit<AccountEvent>
  findLifetimes(tenantId: TenantId): Promise<TokenLifetimes>
  /** The tenant's own profile. */
  findOwnProfile(tenant: Tenant): Promise<{ name: string; profilePic?: string } | undefined>
  /** The settings that a client wants at once after signing in. */
  listLoginSettings(tenantId: TenantId): Promise<[string, string][]>
}

/** Opens a session of the tenant's owner, in the transaction of the sign-in. */
export async function startPersonalSession(
  { clock, emit }: Pick<CompleteLoginDeps, 'clock' | 'emit'>,
  tx: Writer,
  input: {
    readonly tenant: Tenant
    readonly method: SessionMethod
    readonly device: Device
    readonly lifetimes: TokenLifetimes
    readonly epoch?: SignInEpoch | undefined
    readonly scope?: Scope | undefined
  },
): Promise<Session> {
  const { tenant, method, device, lifetimes, epoch, scope } = input
  const session = await startSession({ clock }, tx, {
    callerTag: tenant.idTag,
    method,
    device,
    epoch,
    scope,
    expiresAt: nowSecs(clock) + lifetimes.sessionSecs,
  })
  if (!session) throw new Error('A session id made by chance exists already')
  await emit(tx, { kind: 'session.signed-in', callerTag: tenant.idTag, sid: session.sid })
  await audit({ clock }, tx, {
    event: 'session.started',
    actorTag: tenant.idTag,
    ip: device.ip,
    details: { method, sid: session.sid },
  })
  return session
}

/** The login answer of a session: a fresh login token and what a client needs to start. */
export async function answerLogin(
  deps: CompleteLoginDeps,
  tenant: Tenant,
  session: Session,
): Promise<LoginSession> {
  const hosted = await getActiveTenant(deps, tenant)
  const reader = deps.db.reader(tenant.tenantId)
  const [account, profile, settings, lifetimes] = await Promise.all([
    findAccount(reader),
    deps.findOwnProfile(tenant),
    deps.listLoginSettings(tenant.tenantId),
    deps.findLifetimes(tenant.tenantId),
  ])
  const roles = rolesOf(tenant, { role: 'leader', isOwner: true, isAdmin: hosted.isBase })
  const issued = await issueToken(deps, tenant, {
    use: 'login',
    sid: session.sid,
    callerTag: tenant.idTag,
    scope: session.scope,
    roles,
    lifeSecs: lifetimes.loginSecs,
    notAfter: [session.expiresAt],
  })
  return {
    tnId: tenant.tenantId,
    idTag: tenant.idTag,
    name: profile?.name ?? tenant.idTag,
    ...issued,
    roles,
    settings,
    ...(profile?.profilePic === undefined ? {} : { profilePic: profile.profilePic }),
    ...(account
      ? {
          email: await describeEmail(deps, reader, account),
          swEncryptionKey: serviceWorkerKey(deps.vault, tenant.tenantId, account),
        }
      : {}),
  }
}

/** The tenant as it is now; `E-AUTH-FORBIDDEN` when it is suspended. */
export async function getActiveTenant(
  { tenants }: Pick<CompleteLoginDeps, 'tenants'>,
  tenant: Tenant,
): Promise<HostedTenant> {
  const hosted = await tenants.findById(tenant.tenantId)
  if (!hosted) throw new Failure('E-PROFILE-NOTFOUND')
  if (hosted.suspendedAt !== undefined)
    throw new Failure('E-AUTH-FORBIDDEN', { message: 'This account is suspended.' })
  return hosted
}
