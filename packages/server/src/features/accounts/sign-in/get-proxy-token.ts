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

/** A token that proves this tenant to another one. It speaks for the tenant itself, so only its owner gets one, and only
 * with full authority. It does not outlive what it was asked for with. */
export async function getProxyToken(
  deps: ProxyTokenDeps,
  { tenant, caller, target }: { tenant: Tenant; caller: Identified; target: IdTag },
): Promise<IssuedToken & { readonly serverUrl: string }> {
  if (!caller.isOwner) throw new Failure('E-AUTH-FORBIDDEN')
  if (target === tenant.idTag) throw invalid('/query/target', 'At home a token of this tenant is enough.')
  const serverUrl = await deps.findServerUrl(target, tenant.idTag)
  if (serverUrl === undefined) throw new Failure('E-PROFILE-NOTFOUND')
  // It cannot be revoked elsewhere, so the cached session is not enough.
  const session = await assertSessionLives(deps, deps.db.reader(tenant.tenantId), caller)
  const { proxySecs } = await deps.findLifetimes(tenant.tenantId)
  const issuedAt = nowSecs(deps.clock)
  const expiresAt = earliest(issuedAt + proxySecs, session?.expiresAt)
  const isLocal = (await deps.tenants.find(target)) !== undefined
  const token = await mintProxyToken(deps.keys, tenant, {
    target,
    issuedAt,
    expiresAt,
    isByKey: caller.tokenUse === 'apikey',
    // Other servers do not learn the session.
    ...(isLocal && caller.sessionId !== undefined ? { homeSid: caller.sessionId } : {}),
  })
  return { token, expiresAt, serverUrl }
}
