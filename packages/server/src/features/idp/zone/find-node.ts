import { type IdTag, parseIdTag } from '@kith/protocol'
import type { Settings } from '#features/settings/index.ts'
import { findTenantByHost, type HostedTenant } from '#features/tenants/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import { type Database, serverTenant } from '#infra/db/index.ts'
import type { RecordData } from '#infra/dns-server/index.ts'
import { hostRecords, isInDns } from './hosted-names.ts'
import { addressRecord, serverRecord, ttlOf, usualTtl } from './identity-records.ts'
import { apexRecords, findZoneSettings, nameServerRecords } from './zone-settings.ts'
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
  /** Whether the tenant is a provider now. */
  isProvider(tenant: Tenant): Promise<boolean>
  /** Of this server: IP addresses or names. */
  readonly ownAddresses: readonly string[]
  /** Those of them where it answers DNS. */
  readonly nameServerAddresses: readonly string[]
  /** The first labels of discovery records, without the underscore. */
  readonly discoveryNames: readonly string[]
  /** Where a tenant of this server is reached; undefined where it is not. */
  serverUrlOf(idTag: IdTag): string | undefined
  /** The lowest zone that a name lies in. */
  findZone(name: string): Promise<Tenant | undefined>
  /** Names without records that have tenants of this server below them. */
  findParentNames(zone: Tenant): Promise<ReadonlySet<string>>
}

/** The records of a name; undefined outside of all zones. */
export async function findNode(deps: NodeDeps, name: string): Promise<ZoneNode | undefined> {
  const served = servedName(deps, name)
  const bare = served ?? name
  // A name with characters that are not allowed in host names is no host's.
  const host = parseIdTag(bare)
  const tenant = host && (await findTenantByHost(deps.db.reader(serverTenant), host))
  const isTop = tenant?.idTag === bare && (await deps.isProvider(tenant))
  // By the name above, which many have in common, and whose zone is found in memory.
  const zone = isTop ? tenant : await deps.findZone(bare.slice(bare.indexOf('.') + 1))
  if (!zone) return undefined
  const place = { zone, name: bare, host, tenant }
  const found =
    served === undefined ? await findHostRecords(deps, place) : await findServerRecord(deps, place)
  if (found) return { zone, kind: found.records.length > 0 ? 'records' : 'empty', ...found }
  const kind = (await hasBelow(deps, zone, name)) ? 'empty' : 'absent'
  return { zone, kind, ttl: usualTtl, records: [] }
}

interface Place {
  readonly zone: Tenant
  /** For records of discovery the name that they are about. */
  readonly name: string
  /** The name, if it can be a host's. */
  readonly host: IdTag | undefined
  /** The tenant of this server that answers there. */
  readonly tenant: HostedTenant | undefined
}

type Found = Pick<ZoneNode, 'ttl' | 'records'> | undefined

/** `alice.example` of `_service.alice.example`. */
function servedName({ discoveryNames }: NodeDeps, name: string): string | undefined {
  const word = discoveryNames.find((each) => name.startsWith(`_${each}.`))
  return word === undefined ? undefined : name.slice(word.length + 2)
}

async function findServerRecord(deps: NodeDeps, { zone, name, host, tenant }: Place): Promise<Found> {
  if (tenant?.idTag === name) {
    const url = deps.serverUrlOf(tenant.idTag)
    return url === undefined ? undefined : { ttl: usualTtl, records: [serverRecord(url)] }
  }
  const identity = host && (await findResolved(deps.db.reader(zone.tenantId), host))
  if (!identity) return undefined
  const form = await deps.settings.find(zone.tenantId, 'idp.server_url')
  return { ttl: ttlOf(identity), records: [serverRecord(form.replace('{idTag}', identity.idTag))] }
}

async function findHostRecords(deps: NodeDeps, { zone, name, host, tenant }: Place): Promise<Found> {
  const settings = await findZoneSettings(deps.settings, zone.idTag, deps.nameServerAddresses)
  const ttl = usualTtl
  if (name === zone.idTag) return { ttl, records: apexRecords(settings, name, deps.ownAddresses) }
  const server = settings.nameServers.find(({ host }) => host === name)
  const serverRecords = server ? nameServerRecords(server) : []
  if (serverRecords.length > 0) return { ttl, records: serverRecords }
  const identity = host && (await findResolved(deps.db.reader(zone.tenantId), host))
  if (identity) return { ttl: ttlOf(identity), records: [addressRecord(identity.address)] }
  const isThere = tenant && isInDns(deps, { host: name, tenant })
  return isThere ? { ttl, records: hostRecords(deps, name) } : undefined
}

async function hasBelow(deps: NodeDeps, zone: Tenant, name: string): Promise<boolean> {
  if (await hasNamesBelow(deps.db.reader(zone.tenantId), name)) return true
  const { nameServers } = await findZoneSettings(deps.settings, zone.idTag, deps.nameServerAddresses)
  const below = nameServers.filter(({ host }) => host.endsWith(`.${name}`))
  if (below.some((server) => nameServerRecords(server).length > 0)) return true
  return (await deps.findParentNames(zone)).has(name)
}
