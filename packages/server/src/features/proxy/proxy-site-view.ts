import { type ProxySiteView, toIso } from '@kith/protocol'
import type { ProxySite } from './proxy-site.ts'

/** Certificates that this server gets for the domains. */
export interface SiteCertificates {
  /** When those of the domains end, Unix seconds. */
  listEnds(domains: readonly string[]): Promise<ReadonlyMap<string, number>>
  /** Has one made anew. Fails with `E-UNAVAILABLE` where that is not possible now. */
  renew(domain: string): Promise<void>
}

/** Sites with the ends of their certificates, but without the health of their backends, which a process of the server knows.
 * `certificates` is undefined where the server gets none itself. */
export async function proxySiteViews(
  sites: readonly ProxySite[],
  certificates: Pick<SiteCertificates, 'listEnds'> | undefined,
): Promise<ProxySiteView[]> {
  const ends = await certificates?.listEnds(sites.map(({ domain }) => domain))
  return sites.map(({ createdAt, updatedAt, ...site }) => {
    const endsAt = ends?.get(site.domain)
    return {
      ...site,
      ...(endsAt === undefined ? {} : { certExpiresAt: toIso(endsAt) }),
      createdAt: toIso(createdAt),
      updatedAt: toIso(updatedAt),
    }
  })
}
