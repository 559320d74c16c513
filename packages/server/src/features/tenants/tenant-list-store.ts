import type { IdTag } from '@kith/protocol'
import { contains, keysetPage, type Reader } from '#infra/db/index.ts'
import type { HostedTenant } from './tenant.ts'
import { fromRow, type TenantTables } from './tenant-store.ts'

/** Which tenants: those with this (folded) in their identity, and those with these identities, or those with an identity or app domain
 * below a name. All without. */
export interface TenantFilter {
  readonly part?: string | undefined
  readonly idTags?: readonly IdTag[]
  readonly below?: IdTag
}

interface TenantPage {
  readonly limit: number
  readonly cursor?: string | undefined
}

const byIdTag = {
  sort: 'idTag',
  column: 'tenants.id_tag',
  kind: 'text',
  idColumn: 'tenants.id_tag',
  idKind: 'text',
} as const

/** A page of the tenants of the server, in the order of their identities. */
export async function pageTenants(
  reader: Reader,
  filter: TenantFilter,
  { limit, cursor }: TenantPage,
): Promise<{ items: HostedTenant[]; nextCursor: string | null }> {
  const page = await keysetPage(filtered(reader, filter).selectAll(), byIdTag, {
    direction: 'asc',
    cursor,
    limit,
  })
  return { ...page, items: page.items.map(fromRow) }
}

/** The same by place, with the number of all. */
export async function listTenantsAt(
  reader: Reader,
  filter: TenantFilter,
  { offset, limit }: { readonly offset: number; readonly limit: number },
): Promise<{ items: HostedTenant[]; total: number }> {
  const rows = await filtered(reader, filter)
    .selectAll()
    .orderBy('id_tag')
    .limit(limit)
    .offset(offset)
    .execute()
  const { total } = await filtered(reader, filter)
    .select((row) => row.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow()
  return { items: rows.map(fromRow), total: Number(total) }
}

interface TenantCounts {
  readonly active: number
  readonly suspended: number
  /** Suspended ones included. */
  readonly people: number
  readonly communities: number
}

/** How many tenants there are. */
export async function countTenants(reader: Reader): Promise<TenantCounts> {
  const rows = await reader
    .tables<TenantTables>()
    .selectFrom('tenants')
    .select((row) => [
      'type',
      row.fn.countAll<number>().as('all'),
      row.fn.count<number>('suspended_at').as('suspended'),
    ])
    .groupBy('type')
    .execute()
  const ofType = (type: string) => Number(rows.find((row) => row.type === type)?.all ?? 0)
  const sum = (column: 'all' | 'suspended') => rows.reduce((total, row) => total + Number(row[column]), 0)
  return {
    active: sum('all') - sum('suspended'),
    suspended: sum('suspended'),
    people: ofType('person'),
    communities: ofType('community'),
  }
}

function filtered(reader: Reader, { part, idTags = [], below }: TenantFilter) {
  const tenants = reader.tables<TenantTables>().selectFrom('tenants')
  if (below !== undefined)
    return tenants.where((row) =>
      row.or([row('id_tag', 'like', `%.${below}`), row('app_domain', 'like', `%.${below}`)]),
    )
  if (part === undefined) return tenants
  return tenants.where((row) =>
    row.or([
      contains(reader.dialect, 'id_tag', part),
      ...(idTags.length === 0 ? [] : [row('id_tag', 'in', idTags)]),
    ]),
  )
}
