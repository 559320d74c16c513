import type { Tenant } from '#infra/caller/index.ts'
import type { Database } from '#infra/db/index.ts'
import type { Clock } from '#lib/clock.ts'
import type { ProxyToken } from './proxy-token.ts'
import { type Session, secretHash } from './session.ts'
import { type Device, startSession } from './start-session.ts'

/** Opens the session of a proxy token, once: undefined for a token that has been exchanged before. */
export async function exchangeProxyToken(
  deps: { readonly db: Database; readonly clock: Clock },
  tenant: Tenant,
  input: { proxy: ProxyToken; device: Device; expiresAt: number },
): Promise<Session | undefined> {
  const { proxy, device, expiresAt } = input
  return deps.db.transact(tenant.tenantId, (tx) =>
    startSession(deps, tx, {
      // The session is the memory of the `jti`: it is kept for a day after its end, which is later than the token's.
      sid: secretHash(`${proxy.issuerTag}\n${proxy.jti}`),
      callerTag: proxy.issuerTag,
      method: 'proxy',
      device,
      expiresAt,
      homeSid: proxy.homeSid,
    }),
  )
}
