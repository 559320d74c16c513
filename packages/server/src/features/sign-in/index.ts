export { handleForgottenPasswords } from './forgot-password.ts'
export { replacePassword } from './replace-password.ts'
export { type SignInDeps, signInEndpoints } from './sign-in-endpoints.ts'
export { signInMigrations } from './sign-in-migrations.ts'
