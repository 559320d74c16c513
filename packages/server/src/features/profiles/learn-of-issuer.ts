import type { IdTag } from '@kith/protocol'
import { findStoredIdentity } from '#features/federation/index.ts'
import { findEffectiveRelation, isStranger } from '#features/relations/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import { serverTenant, type Writer } from '#infra/db/index.ts'
import { noteIdentity, requestProfile } from './find-profile.ts'

/** Refreshes the profile of the issuer of a received action if the tenant knows it; for a stranger nothing is fetched. */
export async function learnOfIssuer(
  deps: Parameters<typeof requestProfile>[0] & Parameters<typeof noteIdentity>[0],
  tx: Writer,
  { tenant, issuerTag }: { readonly tenant: Tenant; readonly issuerTag: IdTag },
): Promise<void> {
  if (!isStranger(tenant.type, await findEffectiveRelation(tx, issuerTag)))
    return await requestProfile(deps, tx, issuerTag)
  const known = await findStoredIdentity(tx.as(serverTenant), issuerTag)
  if (known) await noteIdentity(deps, tx, known.identity)
}
