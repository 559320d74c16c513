import {
  listTenants as listContract,
  purgeTenant as purgeContract,
  resumeTenant as resumeContract,
  suspendTenant as suspendContract,
  testEmail as testEmailContract,
} from '@kith/protocol'
import { bind, type Endpoint } from '#infra/http/index.ts'
import { adminView, resumeTenant, suspendTenant } from './change-tenant.ts'
import { listTenants } from './list-tenants.ts'
import { type PurgeTenantDeps, purgeTenant } from './purge-tenant.ts'
import { type TestEmailDeps, testEmail } from './test-email.ts'

export type TenantEndpointDeps = PurgeTenantDeps & TestEmailDeps

export function tenantEndpoints(deps: TenantEndpointDeps): Endpoint[] {
  return [
    bind(listContract, ({ query }) => listTenants(deps, query)),
    bind(suspendContract, async ({ tenant, caller, params: { idTag }, ip }) =>
      adminView(deps, await suspendTenant(deps, { tenant, caller, idTag, ip })),
    ),
    bind(resumeContract, async ({ tenant, caller, params: { idTag }, ip }) =>
      adminView(deps, await resumeTenant(deps, { tenant, caller, idTag, ip })),
    ),
    bind(purgeContract, ({ tenant, caller, params: { idTag }, body, ip }) =>
      purgeTenant(deps, { tenant, caller, idTag, confirm: body?.confirm, ip }),
    ),
    bind(testEmailContract, async ({ tenant, caller, body: { to }, ip }) => {
      await testEmail(deps, { tenant, caller, to, ip })
      return { sent: true }
    }),
  ]
}
