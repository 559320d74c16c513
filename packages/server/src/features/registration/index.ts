export { type BaseTenant, type EnsureBaseTenantDeps, ensureBaseTenant } from './ensure-base-tenant.ts'
export { type MakePersonDeps, makePerson, makeWelcome } from './make-person.ts'
