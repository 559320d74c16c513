export { identitiesMigrations } from './identities-migrations.ts'
export { findFreshInboxes } from './identities-store.ts'
export { hasKid, type Identity, type PublishedIdentity, type ResolvedIdentity } from './identity.ts'
export { type Identities, type IdentitiesDeps, openIdentities } from './open-identities.ts'
