import { type IdTag, parseRefId } from '@kith/protocol'
import { audit } from '#features/audit/index.ts'
import { consumeReference } from '#features/references/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import type { Database } from '#infra/db/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { activeSecs, type ManagedIdentity } from './managed-identity.ts'
import { findIdentity, updateIdentity } from './managed-identity-store.ts'

/** Makes a pending identity its owner's, who has shown the reference that was mailed. */
export async function activateIdentity(
  deps: { readonly db: Database; readonly clock: Clock },
  { tenant, refId: text, ip }: { readonly tenant: Tenant; readonly refId: string; readonly ip: string },
): Promise<ManagedIdentity> {
  const refId = parseRefId(text)
  if (!refId) throw new Failure('E-NOTFOUND')
  return deps.db.transact(tenant.tenantId, async (tx) => {
    const { resourceId } = await consumeReference(deps, tx, { refId, types: ['idp-activate'] })
    const identity = await findIdentity(tx, resourceId as IdTag)
    // It vanished, or was activated with another reference.
    if (identity?.status !== 'pending') throw new Failure('E-GONE')
    const now = nowSecs(deps.clock)
    const active = { ...identity, status: 'active', updatedAt: now, expiresAt: now + activeSecs } as const
    await updateIdentity(tx, active)
    const { idTag } = active
    await audit(deps, tx, { event: 'identity.activated', ip, details: { idTag } })
    return active
  })
}
