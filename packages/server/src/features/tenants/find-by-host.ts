import type { IdTag } from '@kith/protocol'
import type { Tenants } from './open-tenants.ts'
import type { HostedTenant } from './tenant.ts'

interface Hosts {
  readonly tenants: Pick<Tenants, 'find' | 'findByHost'>
  readonly baseIdTag: IdTag
  /** The host of a server that serves its base tenant alone. */
  readonly soleHost: string | undefined
  /** The tenant that answers on hosts of no tenant. */
  readonly defaultTenant: IdTag | undefined
}

/** Finds the tenant that answers on a host. */
export function hostFinder({ tenants, baseIdTag, soleHost, defaultTenant }: Hosts) {
  return async (host: string): Promise<HostedTenant | undefined> => {
    const named = await tenants.findByHost(host)
    const other = host === soleHost ? baseIdTag : defaultTenant
    return named ?? (other && (await tenants.find(other)))
  }
}
