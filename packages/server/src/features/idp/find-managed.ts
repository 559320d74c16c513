import { type IdTag, parseIdTag } from '@kith/protocol'
import type { Identified, KeyHolder, Tenant } from '#infra/caller/index.ts'
import type { Database, Reader } from '#infra/db/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { activeSecs, type IdentityRole, type ManagedIdentity, roleOnIdentity } from './managed-identity.ts'
import { findIdentity, listByLabel, updateIdentity } from './managed-identity-store.ts'

export interface Ask {
  readonly tenant: Tenant
  readonly caller: Identified | KeyHolder
  /** The idTag of the identity, or the first label of it. */
  readonly id: string
}

export interface Managed {
  readonly identity: ManagedIdentity
  readonly ownRole: IdentityRole
}

/** An identity and what the caller is to it. `E-NOTFOUND` when there is none of which the caller may know. */
export async function getManaged(reader: Reader, { tenant, caller, id }: Ask): Promise<Managed> {
  const identity = await findById(reader, tenant, id)
  const ownRole = identity && roleOnIdentity(caller, tenant, identity)
  if (!ownRole) throw new Failure('E-NOTFOUND')
  return { identity, ownRole }
}

async function findById(reader: Reader, tenant: Tenant, id: string): Promise<ManagedIdentity | undefined> {
  const idTag = idTagOf(tenant, id)
  if (idTag === undefined) return undefined
  const identity = await findIdentity(reader, idTag)
  if (identity || id.includes('.')) return identity
  // Further down a label may stand for several.
  const [only, another] = await listByLabel(reader, idTag.slice(0, idTag.indexOf('.')))
  return another ? undefined : only
}

/** The identity that an id names if it is a label right below the provider. */
export function idTagOf(tenant: Tenant, id: string): IdTag | undefined {
  return parseIdTag(id.includes('.') ? id : `${id}.${tenant.idTag}`)
}

const seenEverySecs = 3600

/** Notes that the owner of an identity, or its machine, was there: an active one lives another year from then on. Once
 * an hour, so that reading does not mean writing. */
export async function noteSeen(
  { db, clock }: { readonly db: Database; readonly clock: Clock },
  tenant: Tenant,
  { identity, ownRole }: Managed,
): Promise<void> {
  const now = nowSecs(clock)
  if (ownRole === 'provider' || ownRole === 'registrar') return
  if (identity.lastSeenAt !== undefined && identity.lastSeenAt + seenEverySecs > now) return
  await db.transact(tenant.tenantId, async (tx) => {
    const current = await findIdentity(tx, identity.idTag)
    if (current) await updateIdentity(tx, seen(current, now))
  })
}

/** The identity with its life extended, as it was used just now. */
export function seen(identity: ManagedIdentity, now: number): ManagedIdentity {
  const { graceEndsAt: _, ...rest } = identity
  const expiresAt = identity.status === 'active' ? now + activeSecs : identity.expiresAt
  return { ...rest, lastSeenAt: now, expiresAt }
}
