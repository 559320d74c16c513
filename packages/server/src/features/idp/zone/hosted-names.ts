import type { IdTag } from '@kith/protocol'
import { type HostedTenant, pageTenants } from '#features/tenants/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import { type Database, serverTenant } from '#infra/db/index.ts'
import type { RecordData } from '#infra/dns-server/index.ts'
import { addressRecords } from './identity-records.ts'

/** A host of a tenant of this server: its identity, or its app domain. */
export interface HostedName {
  readonly host: string
  readonly tenant: HostedTenant
}

const pageSize = 500

/** The hosts of tenants of this server that lie below a provider's name, in pages. */
export async function* pageHostedBelow(db: Database, { idTag }: Tenant): AsyncGenerator<HostedName[]> {
  const reader = db.reader(serverTenant)
  let cursor: string | undefined
  do {
    const { items, nextCursor } = await pageTenants(
      reader,
      { below: idTag },
      { limit: pageSize, ...(cursor === undefined ? {} : { cursor }) },
    )
    yield items.flatMap((tenant) =>
      [tenant.idTag, tenant.appDomain]
        .filter((host) => host?.endsWith(`.${idTag}`))
        .map((host) => ({ host: String(host), tenant })),
    )
    cursor = nextCursor ?? undefined
  } while (cursor !== undefined)
}

interface HostDeps {
  readonly ownAddresses: readonly string[]
  serverUrlOf(idTag: IdTag): string | undefined
}

/** The names between the zone's and those of its hosts that have records. */
export async function listParentNames(
  { db, ...deps }: HostDeps & { readonly db: Database },
  zone: Tenant,
): Promise<ReadonlySet<string>> {
  const names = new Set<string>()
  for await (const page of pageHostedBelow(db, zone))
    for (const hosted of page)
      if (isInDns(deps, hosted)) for (const name of namesBetween(hosted.host, zone.idTag)) names.add(name)
  return names
}

/** Whether a host has records, or a record of discovery below it. */
export function isInDns(deps: HostDeps, { host, tenant }: HostedName): boolean {
  const isDiscovered = host === tenant.idTag && deps.serverUrlOf(tenant.idTag) !== undefined
  return isDiscovered || hostRecords(deps, host).length > 0
}

/** Where a host of this server is reached. */
export function hostRecords({ ownAddresses }: Pick<HostDeps, 'ownAddresses'>, host: string): RecordData[] {
  return addressRecords(ownAddresses.filter((address) => address !== host))
}

/** `c.zone` and `b.c.zone` of `a.b.c.zone`. */
export function namesBetween(name: string, zone: string): string[] {
  const labels = name.slice(0, -zone.length - 1).split('.')
  return labels.slice(1).map((_, at) => [...labels.slice(at + 1), zone].join('.'))
}
