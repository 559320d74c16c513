import type { Settings } from '#features/settings/index.ts'
import type { Tenants } from '#features/tenants/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import { serverTenant } from '#infra/db/index.ts'

interface RegistrationDeps {
  readonly tenants: Pick<Tenants, 'base'>
  readonly settings: Pick<Settings, 'find'>
  readonly servesEveryTenant: boolean
}

/** On which host people register, and who may: on the base tenant's, if other tenants can be reached at all. */
export function registrationFinder({ tenants, settings, servesEveryTenant }: RegistrationDeps) {
  return async ({ tenantId }: Tenant): Promise<'open' | 'invite' | undefined> => {
    if (!servesEveryTenant || (await tenants.base()).tenantId !== tenantId) return undefined
    return await settings.find(serverTenant, 'server.registration')
  }
}
