export { type Discovered, Discovery, type DiscoveryDeps } from './discovery.ts'
export { readDiscoveryRecords } from './discovery-record.ts'
export { askDns } from './find-server.ts'
export { identitiesMigrations } from './identities-migrations.ts'
export { findFreshInboxes, findStoredIdentity } from './identities-store.ts'
export { hasKid, type Identity, type PublishedIdentity, type ResolvedIdentity } from './identity.ts'
export { type Asker, type LookUpCause, serverItself } from './look-up-lanes.ts'
export {
  type Identities,
  type IdentitiesDeps,
  openIdentities,
  type ResolveOptions,
} from './open-identities.ts'
export { sweepIdentitiesJob, sweepIdentitiesPeriodMs } from './sweep-identities.ts'
