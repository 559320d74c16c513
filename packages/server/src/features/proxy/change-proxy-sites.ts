import type { IdTag } from '@kith/protocol'
import { type Actor, auditActor } from '#features/audit/index.ts'
import { isProvided } from '#features/idp/index.ts'
import { findTenantByHost } from '#features/tenants/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import { type Database, type Reader, serverTenant, type Writer } from '#infra/db/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { parseBackendUrl } from './backend-url.ts'
import type { ProxySites } from './open-proxy-sites.ts'
import type { OwnPlaces } from './own-places.ts'
import type { NewProxySite, ProxySite } from './proxy-site.ts'
import { countSites, deleteSite, findSite, findSiteOf, insertSite, updateSite } from './proxy-site-store.ts'
import { assertConfig } from './site-config.ts'

export interface ProxySiteDeps {
  readonly db: Database
  readonly clock: Clock
  readonly proxySites: Pick<ProxySites, 'noteChange'>
  readonly ownPlaces: OwnPlaces
  /** Told in the transaction when a domain comes or goes. */
  noteDomains(tx: Writer): Promise<void>
}

/** Who changes a site, which is noted in the audit trail of the base tenant. */
type ByAdmin = Actor & {
  /** The base tenant. */
  readonly tenant: Tenant
}

// All are kept in memory, with a pool of connections each.
const maxSites = 1000

export async function createProxySite(
  deps: ProxySiteDeps,
  { site, ...by }: ByAdmin & { readonly site: Pick<ProxySite, 'domain' | 'backendUrl' | 'type' | 'config'> },
): Promise<ProxySite> {
  assertConfig(site)
  const now = nowSecs(deps.clock)
  const backendUrl = await parseBackendUrl(site.backendUrl, deps.ownPlaces)
  const row: NewProxySite = { ...site, backendUrl, status: 'A', createdAt: now, updatedAt: now }
  const made = await deps.db.transact(by.tenant.tenantId, async (tx) => {
    const own = tx.as(serverTenant)
    if (site.domain === deps.ownPlaces.soleHost)
      throw new Failure('E-DUPLICATE', { message: `${site.domain} is this server itself.` })
    if (await isIdentity(deps, own, site.domain))
      throw new Failure('E-DUPLICATE', {
        message: `${site.domain} is the name of an identity on this server.`,
      })
    if ((await countSites(own)) >= maxSites)
      throw new Failure('E-STATE', { message: `There are ${maxSites} proxy sites already.` })
    const siteId = await insertSite(own, row)
    if (siteId === undefined)
      throw new Failure('E-DUPLICATE', { message: `${site.domain} is a proxy site already.` })
    await note(deps, tx, { event: 'proxy-site.created', by, site: row })
    await deps.noteDomains(tx)
    return { ...row, siteId }
  })
  await deps.proxySites.noteChange()
  return made
}

type Change = {
  readonly [Member in 'backendUrl' | 'status' | 'type' | 'config']?: ProxySite[Member] | undefined
}

/** Changes the members that are present; `config` is replaced as a whole. */
export async function changeProxySite(
  deps: ProxySiteDeps,
  { siteId, change, ...by }: ByAdmin & { readonly siteId: number; readonly change: Change },
): Promise<ProxySite> {
  const { backendUrl: url, ...rest } = change
  const backendUrl = url === undefined ? {} : { backendUrl: await parseBackendUrl(url, deps.ownPlaces) }
  const changed = await deps.db.transact(by.tenant.tenantId, async (tx) => {
    const own = tx.as(serverTenant)
    const site = { ...(await getSite(own, siteId)), ...given(rest), ...backendUrl }
    assertConfig(site)
    const row = { ...site, updatedAt: nowSecs(deps.clock) }
    await updateSite(own, row)
    await note(deps, tx, { event: 'proxy-site.changed', by, site: row })
    if (change.status !== undefined) await deps.noteDomains(tx)
    return row
  })
  await deps.proxySites.noteChange()
  return changed
}

export async function removeProxySite(
  deps: ProxySiteDeps,
  { siteId, ...by }: ByAdmin & { readonly siteId: number },
): Promise<void> {
  await deps.db.transact(by.tenant.tenantId, async (tx) => {
    const own = tx.as(serverTenant)
    const site = await getSite(own, siteId)
    await deleteSite(own, siteId)
    await note(deps, tx, { event: 'proxy-site.removed', by, site })
    await deps.noteDomains(tx)
  })
  await deps.proxySites.noteChange()
}

/** Does the name belong to a tenant, or to an identity that a provider of this server gave? */
async function isIdentity({ clock }: Pick<ProxySiteDeps, 'clock'>, reader: Reader, name: IdTag) {
  return (await findTenantByHost(reader, name)) !== undefined || isProvided({ clock }, reader, [name])
}

/** By its domain, which belongs to one site at most. `E-NOTFOUND` when there is none. */
export async function getSiteOf(reader: Reader, domain: IdTag): Promise<ProxySite> {
  const site = await findSiteOf(reader, domain)
  if (!site) throw new Failure('E-NOTFOUND', { message: `There is no proxy site ${domain}.` })
  return site
}

/** `E-NOTFOUND` when there is none. */
export async function getSite(reader: Reader, siteId: number): Promise<ProxySite> {
  const site = await findSite(reader, siteId)
  if (!site) throw new Failure('E-NOTFOUND')
  return site
}

/** Notes that the certificate of a site is made anew. */
export function noteRenewal(deps: ProxySiteDeps, by: ByAdmin, site: ProxySite): Promise<void> {
  return deps.db.transact(by.tenant.tenantId, (tx) =>
    note(deps, tx, { event: 'proxy-site.renewal-requested', by, site }),
  )
}

function given(change: Omit<Change, 'backendUrl'>): Partial<ProxySite> {
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))
}

async function note(
  deps: ProxySiteDeps,
  tx: Writer,
  {
    event,
    by,
    site,
  }: { readonly event: `${string}.${string}`; readonly by: ByAdmin; readonly site: NewProxySite },
): Promise<void> {
  const { domain, backendUrl, status } = site
  const details = { domain, backendUrl, status }
  await auditActor(deps, tx, { actor: by, event, details })
}
