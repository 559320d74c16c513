export { accountsSealed, createAccount, serviceWorkerKey, setPassword, takeAccount } from './account.ts'
export { findAccount, listWithoutEmail } from './account-store.ts'
export { accountsMigrations, apiKeyUseMigrations } from './accounts-migrations.ts'
export { activityMigrations } from './activity/activity-migrations.ts'
export { countActiveSince } from './activity/activity-store.ts'
export { noteActiveDays } from './activity/note-active-days.ts'
export { browserSessionsMigrations } from './browser-sessions/browser-sessions-migrations.ts'
export { type EmailLinks, openEmailLinks } from './email/email-links.ts'
export { replaceEmail } from './email/replace-email.ts'
export type { AccountEvent } from './events.ts'
export { countMailbox } from './mails/count-mailbox.ts'
export { mailJobPolicy, sendFromJob } from './mails/mail-job.ts'
export { mailLanguage } from './mails/mail-texts.ts'
export { takeReference } from './mails/mailed-reference.ts'
export { assertQueued, mailReference, queueAccountMail } from './mails/queue-account-mail.ts'
export { renderMail } from './mails/render-mail.ts'
export { type AccountMailDeps, handleAccountMails, passwordLink } from './mails/send-account-mail.ts'
export { type ForgotPasswordDeps, handleForgottenPasswords } from './passwords/forgot-password.ts'
export { assertAcceptablePassword } from './passwords/password.ts'
export { createPasswordHasher, type PasswordCost, type PasswordHasher } from './passwords/password-hasher.ts'
export { replacePassword } from './passwords/replace-password.ts'
export { changeReference } from './references/change-reference.ts'
export { consumeReference } from './references/consume-reference.ts'
export { dropReference } from './references/drop-reference.ts'
export { type MakeReferenceDeps, makeReference } from './references/make-reference.ts'
export { mayManage } from './references/manage-references.ts'
export {
  isSpent,
  labelOf,
  type Reference,
  recoveryLifeSecs,
  typesMadeElsewhere,
} from './references/reference.ts'
export {
  exhaustReferences,
  findReference,
  findReferenceByHash,
  hasFileReferences,
  isLiveReference,
  listReferenceRows,
  referenceHash,
  referencesSealed,
} from './references/reference-store.ts'
export { type ReferencesDeps, referencesEndpoints } from './references/references-endpoints.ts'
export { addReferenceSweep } from './references/sweep-references.ts'
export { isApiKey, newApiKey } from './sessions/api-key.ts'
export { type AppName, endAppSessions } from './sessions/app-session.ts'
export { Authenticator, type HeldCredential } from './sessions/authenticator.ts'
export { followInvalidations, whenCredentialsEnd, whenSessionsEnd } from './sessions/follow-invalidations.ts'
export { type IssueDeps, issueToken, rolesOf } from './sessions/issue-token.ts'
export { LastUse } from './sessions/last-use.ts'
export { listEnded, listEndedTenants } from './sessions/list-ended.ts'
export { proxyTokenMinter } from './sessions/mint-for-tenant.ts'
export { assertRecentlySignedIn, assertSessionLives } from './sessions/personal-caller.ts'
export { personalMethods, type Session, secretHash, type TokenLifetimes } from './sessions/session.ts'
export { listLastSignIns, listLiveSessions, listSessions } from './sessions/session-store.ts'
export { type Device, type RevokeDeps, revokeSessions, startSession } from './sessions/start-session.ts'
export { addSessionSweep } from './sessions/sweep-sessions.ts'
export type { AttemptBucket } from './sign-in/attempt-buckets.ts'
export { startPersonalSession } from './sign-in/complete-login.ts'
export { countAttempt } from './sign-in/count-attempt.ts'
export { endSessions, endSignIns } from './sign-in/end-sign-ins.ts'
export { getProxyToken, type ProxyTokenDeps } from './sign-in/get-proxy-token.ts'
export { hasSignInMethod } from './sign-in/has-sign-in-method.ts'
export { type FailedSignInDeps, loggingUnknown } from './sign-in/log-failed-sign-in.ts'
export { type SignInDeps, signInEndpoints } from './sign-in/sign-in-endpoints.ts'
export { addSignInSweep } from './sign-in/sweep-sign-in.ts'
export {
  handleLogouts,
  type LogoutDeps,
  logOutEverywhere,
  logOutOfBlocked,
  logOutSession,
} from './visits/log-out-elsewhere.ts'
export { visitsMigrations } from './visits/visits-migrations.ts'
