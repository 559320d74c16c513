import { type IdTag, parseRefId } from '@kith/protocol'
import { consumeReference, exhaustReferences } from '#features/accounts/index.ts'
import { audit } from '#features/audit/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import type { Database } from '#infra/db/index.ts'
import type { Emit } from '#infra/events/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import type { ManagedNameEvent } from './events.ts'
import { deleteKeysOf } from './identity-key-store.ts'
import { activeSecs, type ManagedIdentity } from './managed-identity.ts'
import { findIdentity, updateIdentity } from './managed-identity-store.ts'

/** Activates a pending identity for the owner, who presents the mailed reference. All references that its registrar had
 * become worthless, and its keys are removed unless the owner keeps them. */
export async function activateIdentity(
  deps: { readonly db: Database; readonly clock: Clock; readonly emit: Emit<ManagedNameEvent> },
  {
    tenant,
    refId: text,
    keepKeys = false,
    ip,
  }: {
    readonly tenant: Tenant
    readonly refId: string
    readonly keepKeys?: boolean
    readonly ip: string
  },
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
    await deps.emit(tx, { kind: 'managed-name.changed', idTag })
    await exhaustReferences(tx, ['idp-activate'], idTag)
    if (!keepKeys) await deleteKeysOf(tx, idTag)
    await audit(deps, tx, { event: 'identity.activated', ip, details: { idTag, keepKeys } })
    return active
  })
}
