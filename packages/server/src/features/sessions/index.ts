export { isApiKey, newApiKey } from './api-key.ts'
export {
  type Authenticated,
  Authenticator,
  type AuthenticatorDeps,
  type Forgotten,
  type HeldCredential,
  type SessionEvent,
} from './authenticator.ts'
export { type Credential, type CredentialDeps, verifyBearer } from './credential.ts'
export { exchangeProxyToken } from './exchange-proxy-token.ts'
export { type IssueDeps, type IssuedToken, issueToken, rolesOf, type TokenRequest } from './issue-token.ts'
export { LastUse } from './last-use.ts'
export { type ListEndedDeps, listEnded } from './list-ended.ts'
export { assertRecentlySignedIn, assertSessionLives } from './personal-caller.ts'
export { type FindIdentityKey, mintProxyToken, type ProxyToken } from './proxy-token.ts'
export {
  defaultLifetimes,
  earliest,
  personalMethods,
  type Session,
  type SessionMethod,
  secretHash,
  type TokenLifetimes,
} from './session.ts'
export { findSession, hasSignedInFrom, listSessions } from './session-store.ts'
export { deleteSession, findLastUse } from './session-sweep-store.ts'
export { homeSessionsMigrations, sessionEndsMigrations, sessionsMigrations } from './sessions-migrations.ts'
export {
  changeSession,
  type Device,
  type NewSession,
  type RevokeDeps,
  revokeSession,
  revokeSessions,
  startSession,
} from './start-session.ts'
export { addSessionSweep } from './sweep-sessions.ts'
