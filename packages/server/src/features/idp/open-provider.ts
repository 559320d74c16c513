import type { Settings } from '#features/settings/index.ts'
import type { Tenants } from '#features/tenants/index.ts'
import type { KeyHolder, Tenant } from '#infra/caller/index.ts'
import type { Database } from '#infra/db/index.ts'
import type { Clock } from '#lib/clock.ts'
import { authenticateKey, keyPrefix } from './identity-keys.ts'

interface ProviderDeps {
  readonly db: Database
  readonly clock: Clock
  readonly tenants: Pick<Tenants, 'findById'>
  readonly settings: Pick<Settings, 'find'>
}

interface Presented {
  readonly tenant: Tenant
  readonly bearer: string
}

/** The tenants of this server that give names to others. */
export interface Provider {
  isProvider(tenant: Tenant): Promise<boolean>
  /** Authenticates a bearer that is a key of a managed identity; every other kind is left to `otherwise`. */
  authenticate<Others, Shown extends Presented>(
    presented: Shown,
    otherwise: (presented: Shown) => Promise<Others>,
  ): Promise<Others | { readonly caller: KeyHolder }>
}

/** Opens the checks that requests make of providers. */
export function openProvider({ db, clock, tenants, settings }: ProviderDeps): Provider {
  const isProvider = async ({ tenantId }: Tenant) => {
    const hosted = await tenants.findById(tenantId)
    return hosted?.suspendedAt === undefined && (await settings.find(tenantId, 'idp.enabled'))
  }
  const findHolder = async ({ tenant, bearer }: Presented) => {
    if (!bearer.startsWith(keyPrefix) || !(await isProvider(tenant))) return undefined
    return await authenticateKey({ db, clock }, { tenant, bearer })
  }
  return {
    isProvider,
    async authenticate(presented, otherwise) {
      const caller = await findHolder(presented)
      return caller ? { caller } : await otherwise(presented)
    },
  }
}
