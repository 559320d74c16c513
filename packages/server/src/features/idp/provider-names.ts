import type { IdTag } from '@kith/protocol'
import { isQuarantined, labelsBelow, refusalOf } from '#features/registration/index.ts'
import { findRelation, isSuspendedOrBanned } from '#features/relations/index.ts'
import { findTenantByHost } from '#features/tenants/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import { type Database, type Reader, serverTenant } from '#infra/db/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { isManaged } from './managed-identity-store.ts'
import { findReleased, isReleased } from './released-identity-store.ts'

export interface ProviderNamesDeps {
  readonly db: Database
  readonly clock: Clock
  /** Names of the machine itself. */
  readonly ownHosts: readonly string[]
  /** Labels that nobody gets. */
  findReservedNames(): Promise<readonly string[]>
  /** Is it in a domain with which the server has nothing to do? */
  isBlockedDomain(name: IdTag): Promise<boolean>
}

interface Wanted {
  readonly tenant: Tenant
  readonly idTag: IdTag
}

/** Why the provider never gives a name, or that somebody who lives here, lived here or is barred has it; undefined when
 * neither. */
export async function findObjection(
  deps: ProviderNamesDeps,
  wanted: Wanted,
): Promise<{ readonly refusal: string } | 'taken' | undefined> {
  const { tenant, idTag } = wanted
  const reserved = await deps.findReservedNames()
  const refusal = refusalOf(idTag, 'idp', { baseIdTag: tenant.idTag, reserved, ownHosts: deps.ownHosts })
  if (refusal !== undefined) return { refusal }
  if (await deps.isBlockedDomain(idTag)) return { refusal: 'This server has nothing to do with this domain.' }
  const reader = deps.db.reader(serverTenant)
  const relation = await findRelation(reader, idTag)
  if (relation && isSuspendedOrBanned(relation)) return 'taken'
  if (await isQuarantined(reader, idTag, nowSecs(deps.clock))) return 'taken'
  return (await isGiven(reader, wanted)) ? 'taken' : undefined
}

/** Has a tenant or a managed identity of this server the name, or one above it that lies below the provider's? What a
 * transaction sees that gives a name away. */
export async function isGiven(reader: Reader, { tenant, idTag }: Wanted): Promise<boolean> {
  const names = upTo(idTag, tenant.idTag)
  if (await isManaged(reader, names)) return true
  for (const name of names) if (await findTenantByHost(reader, name)) return true
  return false
}

/** Has a provider of this server given one of the names, or does one of them rest there? For whoever makes tenants. */
export async function isProvided(
  { clock }: Pick<ProviderNamesDeps, 'clock'>,
  reader: Reader,
  names: readonly IdTag[],
): Promise<boolean> {
  return (await isManaged(reader, names)) || (await isReleased(reader, { names, now: nowSecs(clock) }))
}

/** Does the name rest from its last owner, for this one? The provider's owner waits for nobody. */
export async function isQuarantinedName(
  { clock }: Pick<ProviderNamesDeps, 'clock'>,
  reader: Reader,
  { idTag, callerTag, isProvider }: { idTag: IdTag; callerTag: IdTag | undefined; isProvider: boolean },
): Promise<boolean> {
  if (isProvider) return false
  const released = await findReleased(reader, { idTag, now: nowSecs(clock) })
  return released !== undefined && (callerTag === undefined || released.registrarTag !== callerTag)
}

/** A name and those above it, without the provider's. */
function upTo(idTag: IdTag, domain: IdTag): IdTag[] {
  const labels = labelsBelow(idTag, domain) ?? []
  return labels.map((_, from) => [...labels.slice(from), domain].join('.') as IdTag)
}

/** Fails with `E-PROFILE-EXISTS` when a provider of this server gave the name to somebody, perhaps a moment ago. */
export async function assertNotManaged(reader: Reader, name: IdTag): Promise<void> {
  if (await isManaged(reader, [name])) throw new Failure('E-PROFILE-EXISTS')
}
