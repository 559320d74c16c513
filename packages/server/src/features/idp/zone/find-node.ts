import { type IdTag, parseIdTag } from '@kith/protocol'
import type { Settings } from '#features/settings/index.ts'
import type { HostedTenant, Tenants } from '#features/tenants/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import type { Database } from '#infra/db/index.ts'
import type { RecordData } from '#infra/dns-server/index.ts'
import { addressRecord, addressRecords, serverRecord, ttlOf, usualTtl } from './identity-records.ts'
import { findZoneSettings, nameServerRecords } from './zone-settings.ts'
import { findResolved, hasNamesBelow } from './zone-store.ts'

/** A name in a zone and its records, but for the SOA record. */
export interface ZoneNode {
  readonly zone: Tenant
  /** `empty`: without records, but with names below it. */
  readonly kind: 'records' | 'empty' | 'absent'
  readonly ttl: number
  readonly records: readonly RecordData[]
}

export interface NodeDeps {
  readonly db: Database
  readonly settings: Pick<Settings, 'find'>
  readonly tenants: Pick<Tenants, 'listNow' | 'findByHost'>
  /** Whether the tenant is a provider now. */
  isProvider(tenant: Tenant): Promise<boolean>
  /** Of this server: IP addresses or names. */
  readonly ownAddresses: readonly string[]
  /** The first labels of discovery records, without the underscore. */
  readonly discoveryNames: readonly string[]
  /** Where a tenant of this server is reached; undefined where it is not. */
  serverUrlOf(idTag: IdTag): string | undefined
  /** Names without records that have tenants of this server below them. */
  findParentNames(zone: Tenant): Promise<ReadonlySet<string>>
}

/** The records of a name; undefined outside of all zones. */
export async function findNode(deps: NodeDeps, name: string): Promise<ZoneNode | undefined> {
  const hosted = await listHostedAbove(deps, name)
  const zone = await findZone(deps, hosted)
  if (!zone) return undefined
  const served = servedName(deps, name)
  const found =
    served === undefined
      ? await findHostRecords(deps, { zone, name, hosted })
      : await findServerRecord(deps, { zone, name: served, hosted })
  if (found) return { zone, kind: found.records.length > 0 ? 'records' : 'empty', ...found }
  const kind = (await hasBelow(deps, zone, name)) ? 'empty' : 'absent'
  return { zone, kind, ttl: usualTtl, records: [] }
}

interface Place {
  readonly zone: Tenant
  readonly name: string
  /** Tenants of this server with the name, or one above it. */
  readonly hosted: readonly HostedTenant[]
}

type Found = Pick<ZoneNode, 'ttl' | 'records'> | undefined

async function listHostedAbove({ tenants }: NodeDeps, name: string): Promise<HostedTenant[]> {
  const labels = name.split('.')
  const names = labels.map((_, from) => labels.slice(from).join('.'))
  const idTags = names.map((each) => parseIdTag(each)).filter((idTag) => idTag !== undefined)
  if (idTags.length === 0) return []
  const hosted = await tenants.listNow({ tenantIds: [], idTags })
  return hosted.sort((a, b) => b.idTag.length - a.idTag.length)
}

/** The lowest of the tenants that is a provider. */
async function findZone(
  { isProvider }: NodeDeps,
  hosted: readonly HostedTenant[],
): Promise<HostedTenant | undefined> {
  for (const tenant of hosted) if (await isProvider(tenant)) return tenant
  return undefined
}

/** `alice.example` of `_service.alice.example`. */
function servedName({ discoveryNames }: NodeDeps, name: string): string | undefined {
  const word = discoveryNames.find((each) => name.startsWith(`_${each}.`))
  return word === undefined ? undefined : name.slice(word.length + 2)
}

async function findServerRecord(deps: NodeDeps, { zone, name, hosted }: Place): Promise<Found> {
  const own = hosted.find(({ idTag }) => idTag === name)
  if (own) {
    const url = deps.serverUrlOf(own.idTag)
    return url === undefined ? undefined : { ttl: usualTtl, records: [serverRecord(url)] }
  }
  const idTag = parseIdTag(name)
  const identity = idTag && (await findResolved(deps.db.reader(zone.tenantId), idTag))
  if (!identity) return undefined
  const form = await deps.settings.find(zone.tenantId, 'idp.server_url')
  return { ttl: ttlOf(identity), records: [serverRecord(form.replace('{idTag}', identity.idTag))] }
}

async function findHostRecords(deps: NodeDeps, { zone, name, hosted }: Place): Promise<Found> {
  const { nameServers, caa } = await findZoneSettings(deps.settings, zone.idTag, deps.ownAddresses)
  const ttl = usualTtl
  const server = nameServers.find(({ host }) => host === name)
  const serverRecords = server ? nameServerRecords(server) : []
  if (name === zone.idTag) {
    const servers = nameServers.map(({ host }) => ({ type: 'NS', data: host }) as const)
    const addresses = addressRecords(deps.ownAddresses).filter(({ type }) => type !== 'CNAME')
    return { ttl, records: [...servers, ...caa, ...addresses] }
  }
  if (serverRecords.length > 0) return { ttl, records: serverRecords }
  const idTag = parseIdTag(name)
  const identity = idTag && (await findResolved(deps.db.reader(zone.tenantId), idTag))
  if (identity) return { ttl: ttlOf(identity), records: [addressRecord(identity.address)] }
  // A name with characters that are not allowed in host names is no host's.
  const own =
    hosted.find((tenant) => tenant.idTag === name) ?? (idTag && (await deps.tenants.findByHost(idTag)))
  return own && { ttl, records: addressRecords(deps.ownAddresses.filter((address) => address !== name)) }
}

async function hasBelow(deps: NodeDeps, zone: Tenant, name: string): Promise<boolean> {
  if (await hasNamesBelow(deps.db.reader(zone.tenantId), name)) return true
  const { nameServers } = await findZoneSettings(deps.settings, zone.idTag, deps.ownAddresses)
  if (nameServers.some(({ host }) => host.endsWith(`.${name}`))) return true
  return (await deps.findParentNames(zone)).has(name)
}
