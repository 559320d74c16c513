import type { IdTag } from '@kith/protocol'
import type { Tenants } from '#features/tenants/index.ts'
import type { TenantId } from '#infra/db/index.ts'
import { nowSecs } from '#lib/clock.ts'
import type { CheckedToken, Delivery } from './check-token.ts'
import type { ReceiveDeps } from './receive-deps.ts'
import { checkQueued, receiveLocally } from './store-token.ts'
import { isGenuine } from './verify-token.ts'

export interface LocalDeliveryDeps
  extends Pick<ReceiveDeps, 'db' | 'clock' | 'jobs' | 'verifier' | 'receiveAction' | 'isBlockedHere'> {
  readonly tenants: Pick<Tenants, 'find' | 'findById'>
}

/** Hands a token that a tenant sends to those of its recipients that are tenants here. Tenants that the server blocks do
 * not get it; for suspended ones it is held. Throws for a retry when the key of another issuer cannot be fetched. */
export async function receiveFromHere(
  deps: LocalDeliveryDeps,
  delivery: Delivery,
  recipients: readonly IdTag[],
  senderId: TenantId,
): Promise<void> {
  const token = checkQueued(delivery, nowSecs(deps.clock))
  if (!token || !(await isSendersOrGenuine(deps, token, senderId))) return
  const found = await Promise.all(recipients.map((idTag) => deps.tenants.find(idTag)))
  const hosted = found.filter((tenant) => tenant !== undefined)
  const blocked = await Promise.all(hosted.map(({ idTag }) => deps.isBlockedHere(idTag)))
  const receivers = hosted.filter(({ suspendedAt }, at) => suspendedAt !== undefined || !blocked[at])
  await receiveLocally(deps, token, receivers)
}

/** What others issued is verified: an archive that was imported may hold anything in their names. */
async function isSendersOrGenuine(
  deps: LocalDeliveryDeps,
  token: CheckedToken,
  senderId: TenantId,
): Promise<boolean> {
  const sender = await deps.tenants.findById(senderId)
  const foreign = token.issuerTag === sender?.idTag ? token.announced : token
  return foreign === undefined || (await isGenuine(deps, foreign))
}
