import type { IdTag } from '@kith/protocol'
import { type IssuedToken, mintProxyToken, type TokenLifetimes } from '#features/sessions/index.ts'
import type { Identified, Tenant } from '#infra/caller/index.ts'
import type { TenantId } from '#infra/db/index.ts'
import type { SigningKeys } from '#infra/keys/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'

export interface ProxyTokenDeps {
  readonly clock: Clock
  readonly keys: Pick<SigningKeys, 'sign'>
  findLifetimes(tenantId: TenantId): Promise<TokenLifetimes>
  /** Is there such an identity, here or elsewhere? `E-UNAVAILABLE` when nobody can tell now. */
  hasIdentity(idTag: IdTag): Promise<boolean>
}

/** A token that proves this tenant to another one. It speaks for the tenant itself, so only its owner gets one, and only
 * with full authority. */
export async function getProxyToken(
  deps: ProxyTokenDeps,
  { tenant, caller, target }: { tenant: Tenant; caller: Identified; target: IdTag },
): Promise<IssuedToken> {
  if (!caller.isOwner || caller.scope !== undefined) throw new Failure('E-AUTH-FORBIDDEN')
  if (!(await deps.hasIdentity(target))) throw new Failure('E-PROFILE-NOTFOUND')
  const { proxySecs } = await deps.findLifetimes(tenant.tenantId)
  const issuedAt = nowSecs(deps.clock)
  const expiresAt = issuedAt + proxySecs
  return { token: await mintProxyToken(deps.keys, tenant, { target, issuedAt, expiresAt }), expiresAt }
}
