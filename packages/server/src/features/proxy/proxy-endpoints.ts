import {
  createProxySite as createContract,
  deleteProxySite as deleteContract,
  getProxySite as getContract,
  listProxySites as listContract,
  type ProxySiteView,
  renewProxySiteCert as renewContract,
  updateProxySite as updateContract,
} from '@kith/protocol'
import { serverTenant } from '#infra/db/index.ts'
import { bind, type Endpoint } from '#infra/http/index.ts'
import { Failure } from '#lib/failure.ts'
import {
  changeProxySite,
  createProxySite,
  getSite,
  noteRenewal,
  type ProxySiteDeps,
  removeProxySite,
} from './change-proxy-sites.ts'
import type { HealthChecks } from './check-health.ts'
import type { ProxySite } from './proxy-site.ts'
import { listSites } from './proxy-site-store.ts'
import { proxySiteViews, type SiteCertificates } from './proxy-site-view.ts'

interface ProxyEndpointDeps extends ProxySiteDeps {
  readonly health: Pick<HealthChecks, 'of'>
  /** Undefined where the server gets none itself. */
  readonly certificates: SiteCertificates | undefined
}

export function proxyEndpoints(deps: ProxyEndpointDeps): Endpoint[] {
  const reader = () => deps.db.reader(serverTenant)
  const viewOf = async (site: ProxySite) => (await views([site], deps))[0] as ProxySiteView
  return [
    bind(listContract, async () => await views(await listSites(reader()), deps)),
    bind(createContract, async ({ tenant, caller, body, ip }) => {
      const { domain, backendUrl, type = 'basic', config = {} } = body
      const site = { domain, backendUrl, type, config }
      return await viewOf(await createProxySite(deps, { tenant, caller, ip, site }))
    }),
    bind(getContract, async ({ params: { siteId } }) => await viewOf(await getSite(reader(), siteId))),
    bind(updateContract, async ({ tenant, caller, params: { siteId }, body: change, ip }) =>
      viewOf(await changeProxySite(deps, { tenant, caller, ip, siteId, change })),
    ),
    bind(deleteContract, async ({ tenant, caller, params: { siteId }, ip }) => {
      await removeProxySite(deps, { tenant, caller, ip, siteId })
    }),
    bind(renewContract, async ({ tenant, caller, params: { siteId }, ip }) => {
      const site = await getSite(reader(), siteId)
      if (!deps.certificates || site.status !== 'A')
        throw new Failure('E-UNAVAILABLE', { message: noCertificate(site) })
      await deps.certificates.renew(site.domain)
      await noteRenewal(deps, { tenant, caller, ip }, site)
      return await viewOf(site)
    }),
  ]
}

const noCertificate = ({ status }: ProxySite) =>
  status === 'A' ? 'This server does not get certificates itself.' : 'The site is disabled.'

async function views(
  sites: readonly ProxySite[],
  { health, certificates }: Pick<ProxyEndpointDeps, 'health' | 'certificates'>,
): Promise<ProxySiteView[]> {
  const shown = await proxySiteViews(sites, certificates)
  return sites.map((site, at) => {
    const found = health.of(site)
    return { ...(shown[at] as ProxySiteView), ...(found === undefined ? {} : { health: found }) }
  })
}
