import type { IdTag, ProxySiteConfig } from '@kith/protocol'
import type { Generated, Selectable } from 'kysely'
import type { Reader, Writer } from '#infra/db/index.ts'
import type { NewProxySite, ProxySite } from './proxy-site.ts'

interface ProxySiteTable {
  site_id: Generated<number>
  tenant_id: number
  domain: IdTag
  backend_url: string
  status: ProxySite['status']
  type: ProxySite['type']
  config: string
  created_at: number
  updated_at: number
}
interface ProxyTables {
  proxy_sites: ProxySiteTable
}

// All of these take a handle of the server's own tenant, but for `isProxied`, which takes any.

export async function listSites(reader: Reader): Promise<ProxySite[]> {
  const rows = await sites(reader).orderBy('domain').execute()
  return rows.map(fromRow)
}

export async function findSite(reader: Reader, siteId: number): Promise<ProxySite | undefined> {
  const row = await sites(reader).where('site_id', '=', siteId).executeTakeFirst()
  return row && fromRow(row)
}

export async function findSiteOf(reader: Reader, domain: IdTag): Promise<ProxySite | undefined> {
  const row = await sites(reader).where('domain', '=', domain).executeTakeFirst()
  return row && fromRow(row)
}

/** Is there a site with this domain, a disabled one included? */
export async function isProxied(reader: Reader, domain: string): Promise<boolean> {
  const found = await reader
    .tables<ProxyTables>()
    .selectFrom('proxy_sites')
    .select('site_id')
    .where('domain', '=', domain as IdTag)
    .executeTakeFirst()
  return found !== undefined
}

export async function countSites(reader: Reader): Promise<number> {
  const row = await reader
    .tables<ProxyTables>()
    .selectFrom('proxy_sites')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('tenant_id', '=', reader.tenantId)
    .executeTakeFirstOrThrow()
  return Number(row.count)
}

/** Answers the number of the new site; undefined when its domain is taken. */
export async function insertSite(tx: Writer, site: NewProxySite): Promise<number | undefined> {
  const { domain, createdAt } = site
  const row = await tx
    .tables<ProxyTables>()
    .insertInto('proxy_sites')
    .values({ tenant_id: tx.tenantId, domain, created_at: createdAt, ...changeable(site) })
    .onConflict((conflict) => conflict.column('domain').doNothing())
    .returning('site_id')
    .executeTakeFirst()
  return row?.site_id
}

export async function updateSite(tx: Writer, site: ProxySite): Promise<void> {
  await tx
    .tables<ProxyTables>()
    .updateTable('proxy_sites')
    .set(changeable(site))
    .where('tenant_id', '=', tx.tenantId)
    .where('site_id', '=', site.siteId)
    .execute()
}

export async function deleteSite(tx: Writer, siteId: number): Promise<void> {
  await tx
    .tables<ProxyTables>()
    .deleteFrom('proxy_sites')
    .where('tenant_id', '=', tx.tenantId)
    .where('site_id', '=', siteId)
    .execute()
}

function sites(reader: Reader) {
  return reader
    .tables<ProxyTables>()
    .selectFrom('proxy_sites')
    .selectAll()
    .where('tenant_id', '=', reader.tenantId)
}

function changeable({ backendUrl, status, type, config, updatedAt }: NewProxySite) {
  return { backend_url: backendUrl, status, type, config: JSON.stringify(config), updated_at: updatedAt }
}

function fromRow(row: Selectable<ProxySiteTable>): ProxySite {
  return {
    siteId: row.site_id,
    domain: row.domain,
    backendUrl: row.backend_url,
    status: row.status,
    type: row.type,
    config: JSON.parse(row.config) as ProxySiteConfig,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}
