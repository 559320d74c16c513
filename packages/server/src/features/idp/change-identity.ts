import { audit } from '#features/audit/index.ts'
import type { Database, Writer } from '#infra/db/index.ts'
import type { Emit } from '#infra/events/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { Failure, invalid, unauthenticated } from '#lib/failure.ts'
import type { ManagedNameEvent } from './events.ts'
import { type Ask, getManaged, type Managed, seen } from './find-managed.ts'
import { findKey } from './identity-key-store.ts'
import { countMove } from './idp-buckets.ts'
import { acceptAddress, activeSecs, assertMayChange, type ManagedIdentity } from './managed-identity.ts'
import { updateIdentity } from './managed-identity-store.ts'

interface Deps {
  readonly db: Database
  readonly clock: Clock
  readonly emit: Emit<ManagedNameEvent>
}

interface From {
  readonly ip: string
}

type AddressedIdentity = ManagedIdentity & Required<Pick<ManagedIdentity, 'address' | 'addressUpdatedAt'>>

/** Says where the server of an identity is: at `address`, or where the request comes from. */
export async function setAddress(
  deps: Deps,
  request: Ask & From & { readonly address?: string | undefined; readonly isAutomatic: boolean },
): Promise<AddressedIdentity> {
  const { tenant, caller, ip, isAutomatic } = request
  const wanted = request.address ?? (isAutomatic ? ip : undefined)
  if (wanted === undefined) throw invalid('/address', 'Say where, or that it is where this comes from.')
  const { identity: found } = await getManaged(deps.db.reader(tenant.tenantId), request)
  await countMove(deps, { tenantId: tenant.tenantId, idTag: found.idTag })
  return deps.db.transact(tenant.tenantId, async (tx) => {
    // It may have ended since it was shown.
    if (caller.kind === 'key' && !(await findKey(tx, caller.keyId))) throw unauthenticated('revoked')
    const { identity, ownRole } = await getManaged(tx, request)
    assertMayChange(ownRole, identity)
    const now = nowSecs(deps.clock)
    const address = acceptAddress(wanted, identity.idTag)
    const isOwn = ownRole === 'owner' || ownRole === 'key'
    const base = isOwn ? seen(identity, now) : identity
    const changed = { ...base, address, addressUpdatedAt: now, updatedAt: now }
    await updateIdentity(tx, changed)
    if (address !== identity.address) {
      const { idTag } = identity
      await deps.emit(tx, { kind: 'managed-name.changed', idTag })
      const by = caller.kind === 'key' ? { keyId: caller.keyId } : {}
      const actorTag = caller.idTag
      await audit(deps, tx, {
        event: 'identity.address-changed',
        actorTag,
        ip,
        details: { idTag, address, ...by },
      })
    }
    return changed
  })
}

/** Says whether the address changes often; suspends an identity or ends that, which is the provider's to do. */
export async function changeIdentity(
  deps: Deps,
  request: Ask &
    From & { readonly isDynamic?: boolean | undefined; readonly status?: 'active' | 'suspended' | undefined },
): Promise<ManagedIdentity> {
  const { tenant, isDynamic, status } = request
  return deps.db.transact(tenant.tenantId, async (tx) => {
    const managed = await getManaged(tx, request)
    assertMayChange(managed.ownRole, managed.identity)
    if (isDynamic === undefined && status === undefined) return managed.identity
    const updatedAt = nowSecs(deps.clock)
    const identity = { ...(await withStatus(deps, tx, managed, request)), updatedAt }
    const changed = isDynamic === undefined ? identity : { ...identity, isDynamic }
    await updateIdentity(tx, changed)
    await deps.emit(tx, { kind: 'managed-name.changed', idTag: changed.idTag })
    return changed
  })
}

async function withStatus(
  deps: Deps,
  tx: Writer,
  { identity, ownRole }: Managed,
  {
    caller,
    status,
    ip,
  }: Pick<Ask, 'caller'> & From & { readonly status?: 'active' | 'suspended' | undefined },
): Promise<ManagedIdentity> {
  if (status === undefined) return identity
  if (ownRole !== 'provider') throw new Failure('E-AUTH-FORBIDDEN')
  if (identity.status === 'pending')
    throw new Failure('E-STATE', { message: 'Only its owner can activate this name.' })
  if (identity.status === status) return identity
  const { idTag } = identity
  const event = status === 'suspended' ? 'identity.suspended' : 'identity.resumed'
  await audit(deps, tx, { event, actorTag: caller.idTag, ip, details: { idTag } })
  // It may have come to its end meanwhile: the owner gets the time to be seen again.
  const { graceEndsAt: _, ...rest } = identity
  const expiresAt = status === 'active' ? nowSecs(deps.clock) + activeSecs : identity.expiresAt
  return { ...rest, status, expiresAt }
}
