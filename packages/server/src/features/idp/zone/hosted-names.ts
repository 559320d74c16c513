import { type HostedTenant, pageTenants } from '#features/tenants/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import { type Database, serverTenant } from '#infra/db/index.ts'

const pageSize = 500

/** The tenants of this server whose names lie below a provider's, in pages. */
export async function* pageHostedBelow(db: Database, { idTag }: Tenant): AsyncGenerator<HostedTenant[]> {
  const reader = db.reader(serverTenant)
  let cursor: string | undefined
  do {
    const { items, nextCursor } = await pageTenants(
      reader,
      { part: `.${idTag}` },
      { limit: pageSize, ...(cursor === undefined ? {} : { cursor }) },
    )
    yield items.filter((tenant) => tenant.idTag.endsWith(`.${idTag}`))
    cursor = nextCursor ?? undefined
  } while (cursor !== undefined)
}

/** The names between the zone's and those of its tenants. */
export async function listParentNames(db: Database, zone: Tenant): Promise<ReadonlySet<string>> {
  const names = new Set<string>()
  for await (const page of pageHostedBelow(db, zone))
    for (const { idTag } of page) for (const name of namesBetween(idTag, zone.idTag)) names.add(name)
  return names
}

function namesBetween(idTag: string, zone: string): string[] {
  const labels = idTag.slice(0, -zone.length - 1).split('.')
  return labels.slice(1).map((_, at) => [...labels.slice(at + 1), zone].join('.'))
}
