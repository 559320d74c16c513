export type { AttemptBucket } from './attempt-buckets.ts'
export { startPersonalSession } from './complete-login.ts'
export { countAttempt } from './count-attempt.ts'
export { endSignIns } from './end-sign-ins.ts'
export { handleForgottenPasswords } from './forgot-password.ts'
export { hasWayIn } from './has-way-in.ts'
export { replacePassword } from './replace-password.ts'
export { type SignInDeps, signInEndpoints } from './sign-in-endpoints.ts'
export {
  qrApprovalMigrations,
  qrNetworksMigrations,
  signInEndsMigrations,
  signInMigrations,
} from './sign-in-migrations.ts'
export { addSignInSweep } from './sweep-sign-in.ts'
