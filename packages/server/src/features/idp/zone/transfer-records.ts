import type { IdTag } from '@kith/protocol'
import type { HostedTenant } from '#features/tenants/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import type { ResourceRecord } from '#infra/dns-server/index.ts'
import type { NodeDeps } from './find-node.ts'
import { pageHostedBelow } from './hosted-names.ts'
import {
  addressRecord,
  addressRecords,
  type ResolvedIdentity,
  serverRecord,
  ttlOf,
  usualTtl,
  withName,
} from './identity-records.ts'
import { findZoneSettings, nameServerRecords } from './zone-settings.ts'
import { listResolved } from './zone-store.ts'

const pageSize = 500

/** All records of a zone but its SOA record. Concurrent changes may be missing: the serial was read before them, so that
 * secondaries transfer the zone again. */
export async function* transferRecords(deps: NodeDeps, zone: Tenant): AsyncGenerator<ResourceRecord[]> {
  yield await zoneRecords(deps, zone)
  for await (const page of pageHostedBelow(deps.db, zone)) {
    const records = await Promise.all(page.map((tenant) => hostedRecords(deps, zone, tenant)))
    yield records.flat()
  }
  const form = await deps.settings.find(zone.tenantId, 'idp.server_url')
  const reader = deps.db.reader(zone.tenantId)
  for (let after: IdTag | undefined; ; ) {
    const page = await listResolved(reader, { after, limit: pageSize })
    yield page.flatMap((identity) => identityRecords(deps, identity, form))
    const last = page.at(-1)
    if (!last || page.length < pageSize) return
    after = last.idTag
  }
}

async function zoneRecords(deps: NodeDeps, { idTag }: Tenant): Promise<ResourceRecord[]> {
  const { nameServers, caa } = await findZoneSettings(deps.settings, idTag, deps.ownAddresses)
  const servers = nameServers.map(({ host }) => ({ type: 'NS', data: host }) as const)
  const addresses = addressRecords(deps.ownAddresses).filter(({ type }) => type !== 'CNAME')
  const inZone = nameServers.filter(({ host }) => host.endsWith(`.${idTag}`))
  return [
    ...withName(idTag, usualTtl, [...servers, ...caa, ...addresses]),
    ...inZone.flatMap((server) => withName(server.host, usualTtl, nameServerRecords(server))),
    ...tenantServerRecords(deps, idTag),
  ]
}

/** A tenant's records, or the delegation of its zone where it gives names itself. */
async function hostedRecords(deps: NodeDeps, zone: Tenant, tenant: HostedTenant): Promise<ResourceRecord[]> {
  const { idTag, appDomain } = tenant
  if (await deps.isProvider(tenant)) {
    const { nameServers } = await findZoneSettings(deps.settings, idTag, deps.ownAddresses)
    const below = nameServers.filter(({ host }) => host.endsWith(`.${idTag}`))
    return [
      ...nameServers.flatMap(({ host }) => withName(idTag, usualTtl, [{ type: 'NS', data: host }])),
      ...below.flatMap((server) => withName(server.host, usualTtl, nameServerRecords(server))),
    ]
  }
  const hosts = appDomain?.endsWith(`.${zone.idTag}`) ? [idTag, appDomain] : [idTag]
  const addresses = addressRecords(deps.ownAddresses)
  return [
    ...hosts.flatMap((host) => withName(host, usualTtl, addresses)),
    ...tenantServerRecords(deps, idTag),
  ]
}

function tenantServerRecords(deps: NodeDeps, idTag: Tenant['idTag']): ResourceRecord[] {
  const url = deps.serverUrlOf(idTag)
  return url === undefined ? [] : discoveryRecords(deps, { name: idTag, url, ttl: usualTtl })
}

function identityRecords(deps: NodeDeps, identity: ResolvedIdentity, form: string): ResourceRecord[] {
  const { idTag: name, address } = identity
  if (address === undefined) return []
  const ttl = ttlOf(identity)
  const url = form.replace('{idTag}', name)
  return [...withName(name, ttl, [addressRecord(address)]), ...discoveryRecords(deps, { name, url, ttl })]
}

function discoveryRecords(
  { discoveryNames }: NodeDeps,
  { name, url, ttl }: { readonly name: string; readonly url: string; readonly ttl: number },
): ResourceRecord[] {
  return discoveryNames.flatMap((word) => withName(`_${word}.${name}`, ttl, [serverRecord(url)]))
}
