import { type ActionPorts, confirmAction, listCountTokens, receiveAction } from '#features/actions/index.ts'
import {
  addIdentitySweep,
  blockedHere,
  type DomainBlocks,
  domainBlockEndpoints,
  openInbox,
  openOutbox,
} from '#features/federation/index.ts'
import type { Endpoint, RateLimits } from '#infra/http/index.ts'
import type { Addresses } from './addresses.ts'
import type { IdentityFeatures } from './identity-features.ts'
import type { Services } from './services.ts'

/** What the ways in and out need beside the services. */
interface FederationParts {
  readonly ports: ActionPorts
  readonly addresses: Addresses
  readonly domainBlocks: DomainBlocks
  readonly rateLimits: RateLimits
}

/** The inbox and the outbox, and which domains have no part in them. */
export function wireFederation(
  services: Services,
  identity: IdentityFeatures,
  { ports, addresses, domainBlocks, rateLimits }: FederationParts,
): Endpoint[] {
  const { db, clock, jobs, egress, signatures, metrics, config } = services
  const { tenants, identities, proxyToken } = identity
  addIdentitySweep(jobs, identities)
  const shared = {
    ...{ db, clock, jobs, egress, tenants, identities },
    isBlockedHere: blockedHere({ db, domainBlocks }),
    listCountTokens: listCountTokens.bind(undefined, ports),
  }
  const { endpoints, inbox } = openInbox({
    ...shared,
    signatures,
    rateLimits,
    proxyToken,
    receiveAction: (tx, arrival) => receiveAction(ports, tx, arrival),
    confirmAction: (tx, confirmed) => confirmAction(ports, tx, confirmed),
  })
  const ownServer = () => new URL(addresses.serverUrl(config.baseIdTag)).host
  return [
    ...endpoints,
    ...openOutbox({ ...shared, metrics, ownServer, inbox }),
    ...domainBlockEndpoints({ ...services, domainBlocks }),
  ]
}
