export type { CompleteLoginDeps } from './complete-login.ts'
export { type BaseTenant, type EnsureBaseTenantDeps, ensureBaseTenant } from './ensure-base-tenant.ts'
export { type SignInDeps, signInEndpoints } from './sign-in-endpoints.ts'
export { signInMigrations } from './sign-in-migrations.ts'
