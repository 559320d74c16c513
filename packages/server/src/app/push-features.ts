import { listEnded } from '#features/accounts/index.ts'
import type { Bus } from '#features/bus/index.ts'
import { handlePushJobs, pushEndpoints } from '#features/push/index.ts'
import { listSuspendedOrBanned } from '#features/relations/index.ts'
import { serverTenant } from '#infra/db/index.ts'
import type { Endpoint } from '#infra/http/index.ts'
import type { Addresses } from './addresses.ts'
import type { IdentityFeatures } from './identity-features.ts'
import type { Services } from './services.ts'

interface PushParts {
  readonly addresses: Addresses
  readonly bus: Pick<Bus, 'isConnected'>
}

/** Notifications of browsers. */
export function wirePush(
  services: Services,
  { tenants, settings }: IdentityFeatures,
  { addresses, bus }: PushParts,
): Endpoint[] {
  const { db, clock, jobs } = services
  const ended = {
    db,
    clock,
    tenants,
    listSuspendedOrBanned: listSuspendedOrBanned.bind(undefined, db.reader(serverTenant)),
  }
  handlePushJobs(jobs, {
    ...services,
    settings,
    tenants,
    listEnded: (held) => listEnded(ended, held),
    serverUrl: addresses.serverUrl,
    isConnected: bus.isConnected.bind(bus),
  })
  return pushEndpoints(services)
}
