import type { IdTag } from '@kith/protocol'
import type { Tenant } from '#infra/caller/index.ts'
import type { TenantId } from '#infra/db/index.ts'
import type { SigningKeys } from '#infra/keys/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { mintProxyToken } from './proxy-token.ts'
import type { TokenLifetimes } from './session.ts'

interface MinterDeps {
  readonly clock: Clock
  readonly keys: Pick<SigningKeys, 'sign'>
  findLifetimes(tenantId: TenantId): Promise<TokenLifetimes>
}

/** Makes proxy tokens for what the server asks others in a tenant's name; they live as long as the tenant's settings say. */
export function proxyTokenMinter({ clock, keys, findLifetimes }: MinterDeps) {
  return async (tenant: Tenant, target: IdTag): Promise<string> => {
    const issuedAt = nowSecs(clock)
    const { proxySecs } = await findLifetimes(tenant.tenantId)
    return await mintProxyToken(keys, tenant, { target, issuedAt, expiresAt: issuedAt + proxySecs })
  }
}
