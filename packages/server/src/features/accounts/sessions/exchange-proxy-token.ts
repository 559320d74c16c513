import { findRelations, isSuspendedOrBanned } from '#features/relations/index.ts'
import type { SignInEpoch } from '#features/tenants/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import type { Database } from '#infra/db/index.ts'
import type { Clock } from '#lib/clock.ts'
import { isLoggedOut, nothingEnded } from '../visits/visitor-logout.ts'
import { findLogout } from '../visits/visitor-logout-store.ts'
import type { ProxyToken } from './proxy-token.ts'
import { type Session, secretHash } from './session.ts'
import { type Device, startSession } from './start-session.ts'

/** Opens the session of a proxy token, once: undefined for a token that has been exchanged before or has ended, and for one
 * whose identity the server has suspended or banned meanwhile. */
export async function exchangeProxyToken(
  deps: { readonly db: Database; readonly clock: Clock },
  tenant: Tenant,
  input: { proxy: ProxyToken; device: Device; epoch: SignInEpoch; expiresAt: number },
): Promise<Session | undefined> {
  const { proxy, device, epoch, expiresAt } = input
  return deps.db.transact(tenant.tenantId, async (tx) => {
    const { server } = await findRelations(tx, proxy.issuerTag)
    if (server && isSuspendedOrBanned(server)) return undefined
    if (isLoggedOut((await findLogout(tx, proxy.issuerTag)) ?? nothingEnded, proxy)) return undefined
    return startSession(deps, tx, {
      // The session is the memory of the `jti`: it is kept for a day after its end, which is later than the token's.
      sid: secretHash(`${proxy.issuerTag}\n${proxy.jti}`),
      callerTag: proxy.issuerTag,
      method: 'proxy',
      device,
      epoch,
      expiresAt,
      homeSid: proxy.homeSid,
      signedInAt: proxy.issuedAt,
    })
  })
}
