import { hash } from 'node:crypto'
import { type CommunityRole, type IdTag, intersectScopes } from '@kith/protocol'
import { LRUCache } from 'lru-cache'
import { findActingRole, isBlockedByServer } from '#features/relations/index.ts'
import { type HostedTenant, isAppointedAdmin, type Tenants } from '#features/tenants/index.ts'
import { type Caller, identified, type Tenant } from '#infra/caller/index.ts'
import { serverTenant, type TenantId } from '#infra/db/index.ts'
import { rateKeyOf } from '#infra/http/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { unauthenticated } from '#lib/failure.ts'
import { RecentReads } from '#lib/recent-reads.ts'
import { type FailedSignInDeps, logFailedSignIn } from '../sign-in/log-failed-sign-in.ts'
import { isLoggedOut, nothingEnded, type VisitorLogout } from '../visits/visitor-logout.ts'
import { findLogout } from '../visits/visitor-logout-store.ts'
import { type Credential, type CredentialDeps, verifyBearer } from './credential.ts'
import type { LastUse } from './last-use.ts'
import type { ProxyToken } from './proxy-token.ts'
import { isPersonal, type Session } from './session.ts'
import { findSession } from './session-store.ts'

interface AuthenticatorDeps extends CredentialDeps, FailedSignInDeps {
  readonly clock: Clock
  readonly tenants: Pick<Tenants, 'find' | 'findById'>
  readonly lastUse: Pick<LastUse, 'noteSession'>
  /** Whether the server blocks the domain in which an identity lies. */
  isDomainBlocked(idTag: IdTag): Promise<boolean>
  /** Makes the other processes drop it from their caches as well. Nothing stored depends on it, so it is no event. */
  shareForgotten(forgotten: Invalidation): void
}

/** What to drop from caches: a session, all of a tenant, or the role of an identity at a tenant, at all tenants when none
 * is named. */
export type Invalidation =
  | { readonly tenantId: TenantId; readonly sid?: string | undefined }
  | { readonly callerTag: IdTag; readonly tenantId?: TenantId }

/** A valid bearer and its caller. */
export interface Authenticated {
  readonly caller: Exclude<Caller, { kind: 'guest' }>
  readonly credential: Credential
}

/** A credential that is held for longer than a request, as by a socket. */
export interface HeldCredential {
  readonly tenant: Tenant
  readonly credential: Credential
}

interface PresentedBearer {
  readonly tenant: Tenant
  readonly bearer: string
  /** The address that shows it. */
  readonly ip: string
}

interface ServerStatus {
  readonly role: CommunityRole
  readonly isOwner: boolean
  readonly isAdmin: boolean
}

// Verdicts cost a signature check each and some 400 bytes to keep, and the tables have their full size from the start.
const maxVerdicts = 5000
const maxSessions = 5000
const maxServerStatuses = 5000
const maxLogouts = 5000
// A revocation or a lost role shows at once in the process that made it, and within this time in the others.
const freshMs = 2_000
// A proxy token rests on a key that its owner may have revoked: it is looked at again this often.
const proxyFreshMs = 30_000

interface Verdict {
  readonly tenantId: TenantId
  readonly credential: Credential
  readonly untilMs: number
}

/** Turns bearers into callers. A request with a known bearer costs microseconds: its verdict is remembered by the
 * token's hash, and its session and role for two seconds. */
export class Authenticator {
  readonly #deps: AuthenticatorDeps
  readonly #verdicts = new LRUCache<string, Verdict>({ max: maxVerdicts })
  readonly #sessions: RecentReads<string, Session>
  readonly #standings: RecentReads<string, ServerStatus>
  readonly #logouts: RecentReads<string, VisitorLogout>

  constructor(deps: AuthenticatorDeps) {
    this.#deps = deps
    const { clock } = deps
    this.#sessions = new RecentReads({ clock, maxEntries: maxSessions, freshMs })
    this.#standings = new RecentReads({ clock, maxEntries: maxServerStatuses, freshMs })
    this.#logouts = new RecentReads({ clock, maxEntries: maxLogouts, freshMs })
  }

  /** Throws `E-AUTH-UNAUTH` for a bearer that is unknown or has ended, `E-UNAVAILABLE` when the server that could verify
   * it cannot be reached. */
  async authenticate({ tenant, bearer, ip }: PresentedBearer): Promise<Authenticated> {
    const credential = await this.#verdict(tenant, bearer, ip)
    if (credential.expiresAt <= nowSecs(this.#deps.clock)) throw unauthenticated('expired')
    return { caller: await this.recall({ tenant, credential }), credential }
  }

  /** The same, for callers that keep the credential for longer than a request. */
  async hold(presented: PresentedBearer) {
    const { caller, credential } = await this.authenticate(presented)
    return { caller, credential: { tenant: presented.tenant, credential } }
  }

  /** The caller of a credential as of now, even if the credential itself has expired: for sockets opened with it. Throws
   * `E-AUTH-UNAUTH` when its session, tenant or role has ended. */
  async recall({ tenant, credential }: HeldCredential): Promise<Authenticated['caller']> {
    const { tenants, lastUse } = this.#deps
    const hosted = await tenants.findById(tenant.tenantId)
    if (!hosted || hosted.suspendedAt !== undefined) throw unauthenticated('revoked')
    if (credential.proxy) await this.#assertNotLoggedOut(hosted, credential.proxy)
    const session = credential.sid === undefined ? undefined : await this.#session(hosted, credential.sid)
    const home = await this.#sessionAtHome(credential, session)
    if (session) lastUse.noteSession(hosted.tenantId, session)
    return await this.#caller(hosted, credential, { session, home })
  }

  /** Forgets a session, or all of a tenant's, and the roles there: to be called after the commit that ends them. */
  forget(tenantId: TenantId, sid?: string): void {
    this.#tell({ tenantId, sid })
  }

  /** Forgets the role of an identity at a tenant, everywhere when the tenant is the server's: after the commit. */
  forgetRole(tenantId: TenantId, callerTag: IdTag): void {
    this.#tell(tenantId === serverTenant ? { callerTag } : { callerTag, tenantId })
  }

  /** Forgets what another process has forgotten. */
  applyInvalidation(forgotten: Invalidation): void {
    if ('callerTag' in forgotten) {
      const { callerTag, tenantId } = forgotten
      if (tenantId === undefined) this.#standings.forgetWhere((key) => key.endsWith(` ${callerTag}`))
      else this.#standings.forget(keyOf(tenantId, callerTag))
      return
    }
    const { tenantId, sid } = forgotten
    if (sid !== undefined) {
      this.#sessions.forget(keyOf(tenantId, sid))
      return
    }
    for (const recent of [this.#sessions, this.#standings, this.#logouts])
      recent.forgetWhere((key) => key.startsWith(keyOf(tenantId, '')))
  }

  #tell(forgotten: Invalidation): void {
    this.applyInvalidation(forgotten)
    this.#deps.shareForgotten(forgotten)
  }

  async #verdict(tenant: Tenant, token: string, ip: string): Promise<Credential> {
    const key = hash('sha256', token, 'base64url')
    const known = this.#verdicts.get(key)
    const nowMs = this.#deps.clock.now()
    if (known && known.tenantId === tenant.tenantId && known.untilMs > nowMs) return known.credential
    const now = nowSecs(this.#deps.clock)
    const credential = await verifyBearer(this.#deps, tenant, { token, now, asker: rateKeyOf(ip) })
    if (typeof credential === 'string') {
      // Tokens end all the time in the hands of clients that do nothing wrong.
      if (token.startsWith('sk_')) logFailedSignIn(this.#deps, { ip, method: 'apiKey', tenant })
      throw unauthenticated(credential)
    }
    const untilMs = credential.proxy ? nowMs + proxyFreshMs : Number.POSITIVE_INFINITY
    this.#verdicts.set(key, { tenantId: tenant.tenantId, credential, untilMs })
    return credential
  }

  async #session({ tenantId }: Tenant, sid: string): Promise<Session> {
    const { db, clock } = this.#deps
    const session = await this.#sessions.read(keyOf(tenantId, sid), () =>
      findSession(db.reader(tenantId), sid),
    )
    if (!session) throw unauthenticated('revoked')
    if (session.expiresAt !== undefined && session.expiresAt <= nowSecs(clock))
      throw unauthenticated('expired')
    return session
  }

  /** For proxy tokens themselves: what they were exchanged for is a session, which has ended. */
  async #assertNotLoggedOut({ tenantId }: Tenant, proxy: ProxyToken): Promise<void> {
    const logout = await this.#logouts.read(
      keyOf(tenantId, proxy.issuerTag),
      async () => (await findLogout(this.#deps.db.reader(tenantId), proxy.issuerTag)) ?? nothingEnded,
    )
    if (isLoggedOut(logout, proxy)) throw unauthenticated('revoked')
  }

  /** A visitor from this server stays only as long as the session at home lives, and an app as long as the one in which it was
   * opened. */
  async #sessionAtHome({ callerTag, proxy }: Credential, session: Session | undefined) {
    const homeSid = session?.homeSid ?? proxy?.homeSid
    if (homeSid === undefined || callerTag === undefined) return undefined
    const home = await this.#deps.tenants.find(callerTag)
    // The session of an identity elsewhere is not known here.
    return home && (await this.#session(home, homeSid))
  }

  async #caller(
    tenant: HostedTenant,
    credential: Credential,
    { session, home }: { readonly session: Session | undefined; readonly home: Session | undefined },
  ): Promise<Authenticated['caller']> {
    const { callerTag, refId, tokenUse } = credential
    // An API key may be narrowed after an app was opened with it.
    const held = session?.method === 'app' ? home?.scope : session?.scope
    const scope = intersectScopes(held, credential.scope)
    const inSession = {
      ...(session ? { sessionId: session.sid } : {}),
      ...(session && isPersonal(session.method) ? { signedInAt: session.signedInAt } : {}),
    }
    if (callerTag !== undefined) {
      const standing = await this.#standing(tenant, callerTag)
      if (!standing) throw unauthenticated('revoked')
      // An API key, which programs keep in files, gives no administrator rights.
      const isAdmin = standing.isAdmin && tokenUse !== 'apikey'
      return identified(callerTag, { tokenUse, scope, ...standing, isAdmin, ...inSession })
    }
    if (refId === undefined || !session) throw unauthenticated('revoked')
    return { kind: 'reference', refId, scope: scope ?? [], sessionId: session.sid }
  }

  async #standing(tenant: HostedTenant, callerTag: IdTag): Promise<ServerStatus | undefined> {
    if (callerTag === tenant.idTag) return { role: 'leader', isOwner: true, isAdmin: tenant.isBase }
    const { db } = this.#deps
    const load = async (): Promise<ServerStatus | undefined> => {
      const role = await findActingRole(db.reader(tenant.tenantId), callerTag)
      if (!role) return undefined
      return { role, isOwner: false, isAdmin: tenant.isBase && (await this.#administers(tenant, callerTag)) }
    }
    return this.#standings.read(keyOf(tenant.tenantId, callerTag), load)
  }

  /** Whom the server blocks does not administer it, and does again when that ends. */
  async #administers({ tenantId }: HostedTenant, callerTag: IdTag): Promise<boolean> {
    const { db, isDomainBlocked } = this.#deps
    const reader = db.reader(tenantId)
    if (!(await isAppointedAdmin(reader, callerTag))) return false
    return !(await isBlockedByServer(reader, callerTag)) && !(await isDomainBlocked(callerTag))
  }
}

function keyOf(tenantId: TenantId, rest: string): string {
  return `${tenantId} ${rest}`
}
