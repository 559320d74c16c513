import type { IdTag } from '@kith/protocol'
import type { Tenants } from '#features/tenants/index.ts'
import type { Identified, Tenant } from '#infra/caller/index.ts'
import type { Database, TenantId } from '#infra/db/index.ts'
import type { SigningKeys } from '#infra/keys/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { Failure, invalid } from '#lib/failure.ts'
import type { IssuedToken } from '../sessions/issue-token.ts'
import { assertSessionLives } from '../sessions/personal-caller.ts'
import { mintProxyToken } from '../sessions/proxy-token.ts'
import { earliest, type TokenLifetimes } from '../sessions/session.ts'
import { assertNotBlocked, type NoteVisitDeps, noteVisit } from '../visits/note-visit.ts'

export interface ProxyTokenDeps {
  readonly db: Database
  readonly clock: Clock
  readonly keys: Pick<SigningKeys, 'sign'>
  readonly tenants: Pick<Tenants, 'find'>
  findLifetimes(tenantId: TenantId): Promise<TokenLifetimes>
  /** The address of the API of an identity, here or elsewhere; undefined when there is no such identity. `E-UNAVAILABLE` when it
   * cannot be found out now. */
  findServerUrl(idTag: IdTag, asker: IdTag): Promise<string | undefined>
}

export interface ProxyTokenRequest {
  readonly tenant: Tenant
  readonly caller: Identified
  readonly target: IdTag
}

type Granted = IssuedToken & { readonly serverUrl: string }

/** A token that proves this tenant to another one. It speaks for the tenant itself, so only its owner gets one, and only
 * with full authority. It does not outlive what it was asked for with. `nameSession`: what the session is called at a target on
 * another server. */
export async function getProxyToken(
  deps: ProxyTokenDeps,
  {
    tenant,
    caller,
    target,
    nameSession,
  }: ProxyTokenRequest & { readonly nameSession?: (sid: string) => Promise<string> },
): Promise<Granted> {
  if (!caller.isOwner) throw new Failure('E-AUTH-FORBIDDEN')
  if (target === tenant.idTag) throw invalid('/query/target', 'At home a token of this tenant is enough.')
  // Taken first: a logout of what was issued up to now must not miss it.
  const issuedAt = nowSecs(deps.clock)
  const serverUrl = await deps.findServerUrl(target, tenant.idTag)
  if (serverUrl === undefined) throw new Failure('E-PROFILE-NOTFOUND')
  const { sessionId: sid } = caller
  const isLocal = (await deps.tenants.find(target)) !== undefined
  const homeSid = isLocal || sid === undefined ? sid : await nameSession?.(sid)
  // The cached session is not enough for what may be used for minutes.
  const session = await assertSessionLives(deps, deps.db.reader(tenant.tenantId), caller)
  const { proxySecs } = await deps.findLifetimes(tenant.tenantId)
  const expiresAt = earliest(issuedAt + proxySecs, session?.expiresAt)
  const isByKey = caller.tokenUse === 'apikey'
  const token = await mintProxyToken(deps.keys, tenant, { target, issuedAt, expiresAt, isByKey, homeSid })
  return { token, expiresAt, serverUrl }
}

/** The same for a client, which shows it at the target itself: the target is told when the session ends. */
export async function giveProxyToken(
  deps: ProxyTokenDeps & NoteVisitDeps,
  request: ProxyTokenRequest,
): Promise<Granted> {
  const { tenant, caller, target } = request
  if (caller.isOwner) await assertNotBlocked(deps.db.reader(tenant.tenantId), target)
  const nameSession = (sid: string) => noteVisit(deps, { tenant, caller, target, sid })
  return await getProxyToken(deps, { ...request, nameSession })
}
