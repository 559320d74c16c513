import type { IdTag } from '@kith/protocol'
import { findStoredIdentity } from '#features/federation/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import { serverTenant, type Writer } from '#infra/db/index.ts'
import { findStoredProfile } from './profile-store.ts'

/** The type of an identity, if its profile or its document is stored here. */
export async function findKnownType(tx: Writer, idTag: IdTag): Promise<Tenant['type'] | undefined> {
  const profile = await findStoredProfile(tx, idTag)
  return profile?.type ?? (await findStoredIdentity(tx.as(serverTenant), idTag))?.identity.type
}
