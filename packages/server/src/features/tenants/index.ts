export { admitTenant, assertAdmitted, endAdmission, withdrawAdmission } from './admit-tenant.ts'
export { appointAdmin, dismissAdmin } from './appoint-admin.ts'
export { assertFreeSlot } from './assert-free-slot.ts'
export { assertOthersLead } from './assert-others-lead.ts'
export { beginRemoval, noteRemoval } from './begin-removal.ts'
export { type CreateTenantDeps, createTenant, type NewTenant } from './create-tenant.ts'
export type { TenantEvent } from './events.ts'
export { findActive, findActiveById, getTenant } from './find-active.ts'
export { hostFinder } from './find-by-host.ts'
export { findRoleHere, leadsAlone } from './hosted-communities.ts'
export { openTenants, type Tenants } from './open-tenants.ts'
export { removeTenant } from './remove-tenant.ts'
export { getSignInEpoch, isOpenFor } from './sign-in-epoch.ts'
export { resumeNamed, resumeTenant, type SuspendDeps, suspendTenant } from './suspend-tenant.ts'
export type { HostedTenant, SignInEpoch } from './tenant.ts'
export { countTenants, listTenantsAt, pageTenants } from './tenant-list-store.ts'
export {
  endSignInEpoch,
  findBaseTenant,
  findHostedSince,
  findTenantByHost,
  findTenantById,
  findTenantByIdTag,
  isAppointedAdmin,
  listAppointedAdmins,
  listHosted,
} from './tenant-store.ts'
export {
  hostedSinceMigrations,
  tenantsMigrations,
  tenantTableMigrations,
  underWayMigrations,
} from './tenants-migrations.ts'
export { assertNotImported, assertNotRemoved, assertWhole, beingRemoved } from './under-way.ts'
