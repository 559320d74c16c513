export {
  changeProxySite,
  createProxySite,
  getSiteOf,
  type ProxySiteDeps,
  removeProxySite,
} from './change-proxy-sites.ts'
export { checkSite, HealthChecks } from './check-health.ts'
export { openProxySites, type ProxySites } from './open-proxy-sites.ts'
export { type OwnPlaces, openOwnPlaces } from './own-places.ts'
export { proxyEndpoints } from './proxy-endpoints.ts'
export { proxyMigrations } from './proxy-migrations.ts'
export type { ProxySite } from './proxy-site.ts'
export { isProxied, listSites } from './proxy-site-store.ts'
export { proxySiteViews, type SiteCertificates } from './proxy-site-view.ts'
