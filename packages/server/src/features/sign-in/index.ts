export { type BaseTenant, type EnsureBaseTenantDeps, ensureBaseTenant } from './ensure-base-tenant.ts'
export { handleForgottenPasswords } from './forgot-password.ts'
export { type SignInDeps, signInEndpoints } from './sign-in-endpoints.ts'
export { signInMigrations } from './sign-in-migrations.ts'
