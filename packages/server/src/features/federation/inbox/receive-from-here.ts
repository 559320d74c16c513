import type { IdTag } from '@kith/protocol'
import type { Tenants } from '#features/tenants/index.ts'
import type { Delivery } from './check-token.ts'
import type { ReceiveDeps } from './receive-deps.ts'
import { receiveLocally } from './store-token.ts'

export interface LocalDeliveryDeps
  extends Pick<ReceiveDeps, 'db' | 'clock' | 'jobs' | 'receiveAction' | 'isBlockedHere'> {
  readonly tenants: Pick<Tenants, 'find'>
}

/** Hands a token of this server to those of its recipients that are tenants here. Tenants that the server blocks do not
 * get it; for suspended ones it is held. */
export async function receiveFromHere(
  deps: LocalDeliveryDeps,
  delivery: Delivery,
  recipients: readonly IdTag[],
): Promise<void> {
  const found = await Promise.all(recipients.map((idTag) => deps.tenants.find(idTag)))
  const hosted = found.filter((tenant) => tenant !== undefined)
  const blocked = await Promise.all(hosted.map(({ idTag }) => deps.isBlockedHere(idTag)))
  const receivers = hosted.filter(({ suspendedAt }, at) => suspendedAt !== undefined || !blocked[at])
  await receiveLocally(deps, delivery, receivers)
}
