import type { SubscribePushBody } from '@kith/protocol'
import { assertSessionLives } from '#features/accounts/index.ts'
import { actsAsTenant } from '#features/relations/index.ts'
import { type Identified, isPersonal, type Tenant } from '#infra/caller/index.ts'
import type { Database } from '#infra/db/index.ts'
import { EgressError, type UrlCheck } from '#infra/egress/index.ts'
import type { Vault } from '#infra/keys/index.ts'
import type { Logger } from '#infra/telemetry/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { Failure, invalid } from '#lib/failure.ts'
import { getVapidKey } from './get-vapid-key.ts'
import { endpointHash, readKeys, sealTarget } from './push-subscription.ts'
import { putSubscription, removeOldest, removeSubscription } from './subscription-store.ts'

export interface SubscribeDeps {
  readonly db: Database
  readonly vault: Vault
  readonly clock: Clock
  readonly egress: UrlCheck
  readonly logger: Pick<Logger, 'info'>
}

interface Subscribing {
  readonly tenant: Tenant
  readonly caller: Identified
}

// Browsers of one identity; one that is not used any more makes room for the next.
const maxSubscriptions = 20

/** Has a browser notified from now on. The same endpoint again keeps its number. */
export async function subscribePush(
  deps: SubscribeDeps,
  { tenant, caller, subscription }: Subscribing & SubscribePushBody,
): Promise<{ readonly subscriptionId: number; readonly isNew: boolean }> {
  const { db, vault, clock } = deps
  assertNotified({ tenant, caller })
  const { expirationTime } = subscription
  const keys = readKeys(subscription.keys)
  if (!keys) throw invalid('/subscription/keys', 'not the keys of a push subscription')
  const now = nowSecs(clock)
  const expiresAt = typeof expirationTime === 'number' ? Math.floor(expirationTime / 1000) : undefined
  if (expiresAt !== undefined && expiresAt <= now)
    throw invalid('/subscription/expirationTime', 'this subscription has expired')
  const endpoint = await pushServiceOf(deps, subscription.endpoint)
  const { tenantId } = tenant
  // Nothing could be sent without, also where the client did not ask for it.
  await getVapidKey(deps, tenant)
  return await db.transact(tenantId, async (tx) => {
    // The session may have ended while the DNS was asked for the endpoint.
    const session = await assertSessionLives({ clock }, tx, caller)
    // A proxy token that was not exchanged for a session is valid for minutes only.
    if (!session) throw new Failure('E-AUTH-FORBIDDEN')
    const put = await putSubscription(tx, {
      subscriberTag: caller.idTag,
      sid: session.sid,
      endpointHash: endpointHash(endpoint),
      targetSealed: sealTarget(vault, tenantId, { endpoint, ...keys }),
      expiresAt,
      createdAt: now,
    })
    await removeOldest(tx, caller.idTag, maxSubscriptions)
    return put
  })
}

/** Fails with `E-NOTFOUND` for a subscription that the caller has not. */
export async function unsubscribePush(
  { db }: Pick<SubscribeDeps, 'db'>,
  { tenant, caller, subscriptionId }: Subscribing & { readonly subscriptionId: number },
): Promise<void> {
  const removed = await db.transact(tenant.tenantId, (tx) =>
    removeSubscription(tx, subscriptionId, caller.idTag),
  )
  if (!removed) throw new Failure('E-NOTFOUND')
}

/** Notifications are the tenant's: its owner gets them, and who moderates a community. An API key is no person, and
 * would go on reading when it has expired. */
function assertNotified({ tenant, caller }: Subscribing): void {
  const isPerson = caller.isOwner ? isPersonal(caller) : caller.tokenUse !== 'apikey'
  if (!isPerson || !actsAsTenant(caller, tenant)) throw new Failure('E-AUTH-FORBIDDEN')
}

/** The endpoint in the form in which it is called. Callers are not told what the DNS says of names inside a network. */
async function pushServiceOf({ egress, logger }: SubscribeDeps, endpoint: string): Promise<string> {
  try {
    await egress.assertReachable(endpoint)
    return new URL(endpoint).href
  } catch (error) {
    if (!(error instanceof EgressError)) throw error
    if (error.reason === 'refused' || error.reason === 'unknown-host') {
      logger.info({ reason: error.message }, 'the endpoint of a push subscription is refused')
      throw invalid('/subscription/endpoint', 'must be a public https address')
    }
    throw new Failure('E-UNAVAILABLE', { cause: error })
  }
}
