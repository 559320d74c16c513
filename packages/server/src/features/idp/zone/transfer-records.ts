import type { IdTag } from '@kith/protocol'
import type { Settings } from '#features/settings/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import type { ResourceRecord } from '#infra/dns-server/index.ts'
import { onlyProviders } from '../list-providers.ts'
import type { NodeDeps } from './find-node.ts'
import { type HostedName, hostRecords, namesBetween, pageHostedBelow } from './hosted-names.ts'
import {
  addressRecord,
  type ResolvedIdentity,
  serverRecord,
  ttlOf,
  usualTtl,
  withName,
} from './identity-records.ts'
import { apexRecords, findZoneSettings, nameServerRecords } from './zone-settings.ts'
import { listResolved } from './zone-store.ts'

export interface TransferDeps extends Omit<NodeDeps, 'findZone' | 'findParentNames'> {
  readonly settings: Pick<Settings, 'find' | 'findNow'>
}

/** A zone that is transferred. */
interface Transfer {
  readonly deps: TransferDeps
  readonly zone: Tenant
  /** Zones of providers below it: what lies below them is theirs. */
  readonly cuts: ReadonlySet<string>
  /** Name servers have the addresses of the settings, and no others. */
  readonly nameServers: ReadonlySet<string>
}

const pageSize = 500
const longestName = 253

/** All records of a zone but its SOA record. Concurrent changes may be missing: the serial was read before them, so that
 * secondaries transfer the zone again. */
export async function* transferRecords(deps: TransferDeps, zone: Tenant): AsyncGenerator<ResourceRecord[]> {
  const cuts = await listCuts(deps, zone)
  // What lies below another provider comes with its delegation.
  const own = (await zoneRecords(deps, zone)).filter(({ name }) => !isBelowCut({ zone, cuts }, name))
  yield own
  const nameServers = new Set(own.map(({ name }) => name))
  const transfer: Transfer = { deps, zone, cuts, nameServers }
  for await (const page of pageHostedBelow(deps.db, zone)) {
    const records = await Promise.all(page.map((hosted) => hostedRecords(transfer, hosted)))
    yield records.flat()
  }
  const form = await deps.settings.find(zone.tenantId, 'idp.server_url')
  const reader = deps.db.reader(zone.tenantId)
  for (let after: IdTag | undefined; ; ) {
    const page = await listResolved(reader, { after, limit: pageSize })
    yield page.flatMap((identity) => identityRecords(transfer, identity, form))
    const last = page.at(-1)
    if (!last || page.length < pageSize) return
    after = last.idTag
  }
}

async function listCuts(deps: TransferDeps, zone: Tenant): Promise<ReadonlySet<string>> {
  const cuts = new Set<string>()
  for await (const page of pageHostedBelow(deps.db, zone)) {
    const tenants = page.filter(({ host, tenant }) => host === tenant.idTag).map(({ tenant }) => tenant)
    for (const { idTag } of await onlyProviders(deps, tenants)) cuts.add(idTag)
  }
  return cuts
}

async function zoneRecords(deps: TransferDeps, { idTag }: Tenant): Promise<ResourceRecord[]> {
  const settings = await findZoneSettings(deps.settings, idTag, deps.nameServerAddresses)
  const inZone = settings.nameServers.filter(({ host }) => host.endsWith(`.${idTag}`))
  return [
    ...withName(idTag, usualTtl, apexRecords(settings, idTag, deps.ownAddresses)),
    ...inZone.flatMap((server) => withName(server.host, usualTtl, nameServerRecords(server))),
    ...tenantServerRecords(deps, idTag),
  ]
}

/** A tenant's records, or the delegation of its zone where it gives names itself. */
async function hostedRecords(transfer: Transfer, { host, tenant }: HostedName): Promise<ResourceRecord[]> {
  const { deps, cuts, nameServers: known } = transfer
  if (isBelowCut(transfer, host)) return []
  if (cuts.has(host)) {
    const { nameServers } = await findZoneSettings(deps.settings, host, deps.nameServerAddresses)
    const below = nameServers.filter((server) => server.host.endsWith(`.${host}`))
    return [
      ...nameServers.flatMap((server) => withName(host, usualTtl, [{ type: 'NS', data: server.host }])),
      ...below.flatMap((server) => withName(server.host, usualTtl, nameServerRecords(server))),
    ]
  }
  return [
    ...(known.has(host) ? [] : withName(host, usualTtl, hostRecords(deps, host))),
    ...(host === tenant.idTag ? tenantServerRecords(deps, tenant.idTag) : []),
  ]
}

function isBelowCut({ zone, cuts }: Pick<Transfer, 'zone' | 'cuts'>, name: string): boolean {
  return cuts.size > 0 && namesBetween(name, zone.idTag).some((above) => cuts.has(above))
}

function tenantServerRecords(deps: TransferDeps, idTag: Tenant['idTag']): ResourceRecord[] {
  const url = deps.serverUrlOf(idTag)
  return url === undefined ? [] : discoveryRecords(deps, { name: idTag, url, ttl: usualTtl })
}

function identityRecords(transfer: Transfer, identity: ResolvedIdentity, form: string): ResourceRecord[] {
  const { deps, nameServers } = transfer
  const { idTag: name, address } = identity
  if (isBelowCut(transfer, name)) return []
  const ttl = ttlOf(identity)
  const url = form.replace('{idTag}', name)
  return [
    ...(nameServers.has(name) ? [] : withName(name, ttl, [addressRecord(address)])),
    ...discoveryRecords(deps, { name, url, ttl }),
  ]
}

/** None for a name that is so long that its record of discovery has no name in the DNS. */
function discoveryRecords(
  { discoveryNames }: TransferDeps,
  { name, url, ttl }: { readonly name: string; readonly url: string; readonly ttl: number },
): ResourceRecord[] {
  const names = discoveryNames.map((word) => `_${word}.${name}`).filter(({ length }) => length <= longestName)
  return names.flatMap((each) => withName(each, ttl, [serverRecord(url)]))
}
