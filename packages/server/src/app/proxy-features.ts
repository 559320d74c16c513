import { noteNameChange, openSiteCertificates } from '#features/certificates/index.ts'
import {
  HealthChecks,
  type OwnPlaces,
  openOwnPlaces,
  openProxySites,
  type ProxySites,
  proxyEndpoints,
} from '#features/proxy/index.ts'
import { getsCertificates, soleHostOf } from '#infra/config/index.ts'
import type { Endpoint } from '#infra/http/index.ts'
import { askBackend, openProxy, type ReverseProxy } from '#infra/proxy/index.ts'
import type { Addresses } from './addresses.ts'
import type { IdentityFeatures } from './identity-features.ts'
import type { Services } from './services.ts'

/** Sites that this server passes on. */
export interface ProxyFeature {
  readonly endpoints: readonly Endpoint[]
  readonly proxy: ReverseProxy
  readonly sites: ProxySites
  readonly health: HealthChecks
  close(): Promise<void>
}

export function openProxyFeature(
  services: Services,
  identity: Pick<IdentityFeatures, 'tenants'>,
  addresses: Addresses,
): ProxyFeature {
  const { db, clock, jobs, logger, loopGuard, metrics, nodeBus } = services
  const ordersCertificates = getsCertificates(services.config)
  const sites = openProxySites({
    db,
    clock,
    nodeBus,
    onRead(hosts) {
      proxy.keepOnly(hosts)
      health.follow()
    },
  })
  const { find, known } = sites
  const proxy = openProxy({ clock, logger, loopGuard, find, known, onRefused: metrics.proxyRefused })
  const health = new HealthChecks({
    clock,
    list: sites.list,
    ask: (backend, path) => askBackend(clock, backend, path),
    onChecked: metrics.proxySitesChecked,
    onError: (err) => logger.error({ err }, 'the backends of proxy sites could not be checked'),
  })
  const ownPlaces = ownPlacesOf(services, identity, addresses)
  return {
    endpoints: proxyEndpoints({
      db,
      clock,
      proxySites: sites,
      ownPlaces,
      health,
      noteDomains: (tx) => noteNameChange({ jobs, isOn: ordersCertificates }, tx),
      certificates: openSiteCertificates({ db, clock, jobs, isOn: ordersCertificates }),
    }),
    proxy,
    sites,
    health,
    async close() {
      await sites.close()
      await health.stop()
      await proxy[Symbol.asyncDispose]()
    },
  }
}

/** Where this server itself is reached, which no backend may be. */
export function ownPlacesOf(
  { db, config: { federation, publicUrl, baseIdTag } }: Pick<Services, 'db' | 'config'>,
  { tenants }: Pick<IdentityFeatures, 'tenants'>,
  { listeningPorts }: Pick<Addresses, 'listeningPorts'>,
): OwnPlaces {
  const soleHost = soleHostOf(publicUrl, baseIdTag)
  return openOwnPlaces({ db, tenants, localAddresses: federation.localAddresses, soleHost, listeningPorts })
}
