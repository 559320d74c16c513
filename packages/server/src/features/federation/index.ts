export { blockedHere } from './domain-blocks/blocked-here.ts'
export {
  blockDomain,
  type DomainBlockDeps,
  unblockDomain,
} from './domain-blocks/change-domain-blocks.ts'
export {
  domainBlockEndpoints,
  viewOf as domainBlockView,
} from './domain-blocks/domain-block-endpoints.ts'
export { findBlockedDomain, pageBlocks as pageDomainBlocks } from './domain-blocks/domain-block-store.ts'
export { guardEgress, guardWebSockets } from './domain-blocks/guard.ts'
export { type DomainBlocks, openDomainBlocks } from './domain-blocks/open-domain-blocks.ts'
export { withoutBlocked } from './domain-blocks/without-blocked.ts'
export type { IdentityEvent } from './events.ts'
export { federationMigrations } from './federation-migrations.ts'
export {
  askIdentity,
  findIdentityKey,
  findLastKnownKey,
  findServer,
  findServerUrl,
  mayExist,
} from './identities/ask-identities.ts'
export { Discovery } from './identities/discovery.ts'
export { askDns } from './identities/find-server.ts'
export { findFreshInboxes, findStoredIdentity } from './identities/identities-store.ts'
export type { PublishedIdentity } from './identities/identity.ts'
export { localIdentities } from './identities/local-identities.ts'
export { type Asker, serverItself } from './identities/look-up-lanes.ts'
export { type Identities, openIdentities } from './identities/open-identities.ts'
export { addIdentitySweep } from './identities/sweep-identities.ts'
export { fetchHistoryJob, holdJob } from './inbox/inbox-jobs.ts'
export { openInbox } from './inbox/open-inbox.ts'
export { queueReceivedHistory } from './inbox/opened-history.ts'
export { holdToken } from './inbox/store-token.ts'
export { queueVerification } from './inbox/verify-moved.ts'
export { listDeliveryHosts } from './outbox/list-delivery-hosts.ts'
export { openDelivery, openOutbox } from './outbox/open-outbox.ts'
export { confirmJob, deliverJob, deliverLocallyJob, findInboxJob } from './outbox/outbox-jobs.ts'
