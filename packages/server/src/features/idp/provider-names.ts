import type { IdTag } from '@kith/protocol'
import { isQuarantined, labelsBelow, refusalOf } from '#features/registration/index.ts'
import { findRelation } from '#features/relations/index.ts'
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
  /** Names of the machine itself, and of the name servers. */
  findOwnHosts(): Promise<readonly string[]>
  /** Reserved labels. */
  findReservedNames(): Promise<readonly string[]>
  /** Is it the host of a proxy site? */
  isProxied(reader: Reader, name: IdTag): Promise<boolean>
  /** Is it in a blocked domain? */
  isBlockedDomain(name: IdTag): Promise<boolean>
}

interface Wanted {
  readonly tenant: Tenant
  readonly idTag: IdTag
}

/** Why a name is not available: by the provider's rules, or because a present, former or banned tenant has it; undefined
 * when it is. */
export async function findObjection(
  deps: ProviderNamesDeps,
  wanted: Wanted,
): Promise<{ readonly refusal: string } | 'taken' | undefined> {
  const { tenant, idTag } = wanted
  const [reserved, ownHosts] = await Promise.all([deps.findReservedNames(), deps.findOwnHosts()])
  const refusal = refusalOf(idTag, 'idp', { baseIdTag: tenant.idTag, reserved, ownHosts })
  if (refusal !== undefined) return { refusal }
  if (await deps.isBlockedDomain(idTag)) return { refusal: 'This server blocks this domain.' }
  const reader = deps.db.reader(serverTenant)
  const relation = await findRelation(reader, idTag)
  if (relation?.isBlocked) return 'taken'
  if (await isQuarantined(reader, idTag, nowSecs(deps.clock))) return 'taken'
  return (await isGiven(deps, reader, wanted)) ? 'taken' : undefined
}

/** Has a tenant or a managed identity of this server the name, or one above it that lies below the provider's, or a proxy
 * site? To be asked in the transaction that gives a name. */
export async function isGiven(
  deps: Pick<ProviderNamesDeps, 'isProxied'>,
  reader: Reader,
  { tenant, idTag }: Wanted,
): Promise<boolean> {
  if (await deps.isProxied(reader, idTag)) return true
  const names = upTo(idTag, tenant.idTag)
  if (await isManaged(reader, names)) return true
  for (const name of names) if (await findTenantByHost(reader, name)) return true
  return false
}

/** Has a provider of this server given one of the names, or released it lately? For features that make tenants. */
export async function isProvided(
  { clock }: Pick<ProviderNamesDeps, 'clock'>,
  reader: Reader,
  names: readonly IdTag[],
): Promise<boolean> {
  return (await isManaged(reader, names)) || (await isReleased(reader, { names, now: nowSecs(clock) }))
}

/** Is the name still kept from this asker after its release? The provider's owner need not wait. */
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

/** Fails with `E-PROFILE-EXISTS` when a provider of this server gave the name, perhaps a moment ago. */
export async function assertNotManaged(reader: Reader, name: IdTag): Promise<void> {
  if (await isManaged(reader, [name])) throw new Failure('E-PROFILE-EXISTS')
}
