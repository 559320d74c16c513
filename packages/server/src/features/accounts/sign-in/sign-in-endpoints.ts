import {
  exchangeCredential as exchangeContract,
  getAccessToken as getAccessTokenContract,
  getProxyToken as getProxyTokenContract,
  initLogin as initLoginContract,
  listSessions as listSessionsContract,
  login as loginContract,
  logOutVisitor as logOutVisitorContract,
  logout as logoutContract,
  revokeSession as revokeSessionContract,
} from '@kith/protocol'
import { bind, type Endpoint, Reshaped } from '#infra/http/index.ts'
import { apiKeyEndpoints } from '../api-keys/api-key-endpoints.ts'
import type { ApiKeyDeps } from '../api-keys/api-keys.ts'
import { clearCookie } from '../browser-sessions/browser-cookie.ts'
import { browserSessionEndpoints } from '../browser-sessions/browser-session-endpoints.ts'
import { type EmailEndpointsDeps, emailEndpoints } from '../email/email-endpoints.ts'
import { type PasskeyEndpointsDeps, passkeyEndpoints } from '../passkeys/passkey-endpoints.ts'
import { type PasswordEndpointsDeps, passwordEndpoints } from '../passwords/password-endpoints.ts'
import { qrEndpoints } from '../qr/qr-endpoints.ts'
import { QrWaiters } from '../qr/qr-waiters.ts'
import type { NoteVisitDeps } from '../visits/note-visit.ts'
import { type TakeLogoutDeps, takeLogout } from '../visits/take-logout.ts'
import { type ExchangeDeps, exchangeCredential } from './exchange-credential.ts'
import { giveProxyToken, type ProxyTokenDeps } from './get-proxy-token.ts'
import { type InitLoginDeps, initLogin } from './init-login.ts'
import { type LoginDeps, login } from './login.ts'
import { endSession, listSessions, logout } from './manage-sessions.ts'

export type SignInDeps = LoginDeps &
  InitLoginDeps &
  ExchangeDeps &
  ProxyTokenDeps &
  NoteVisitDeps &
  TakeLogoutDeps &
  ApiKeyDeps &
  PasskeyEndpointsDeps &
  PasswordEndpointsDeps &
  EmailEndpointsDeps

/** All of sign-in; to be made once per process, since long-polls wait here. */
export function signInEndpoints(deps: SignInDeps): Endpoint[] {
  return [
    bind(loginContract, ({ tenant, body, ip, userAgent }) =>
      login(deps, { tenant, ...body, device: { ip, userAgent } }),
    ),
    bind(initLoginContract, ({ tenant, caller, ip, userAgent }) =>
      initLogin(deps, { tenant, caller, device: { ip, userAgent } }),
    ),
    bind(logoutContract, async ({ tenant, caller, ip, browser }) => {
      await logout(deps, { tenant, caller, ip })
      // A visitor's session is not that of the browser that the tenant's owner uses here.
      return new Reshaped('ok' as const, { headers: caller.isOwner ? clearCookie(browser) : {} })
    }),
    ...browserSessionEndpoints(deps),
    bind(getAccessTokenContract, ({ tenant, caller, query, bearer, ip, userAgent }) =>
      exchangeCredential(deps, { tenant, caller, ...query, bearer, device: { ip, userAgent } }),
    ),
    bind(exchangeContract, ({ tenant, caller, body, bearer, ip, userAgent }) =>
      exchangeCredential(deps, { tenant, caller, ...body, bearer, device: { ip, userAgent } }),
    ),
    bind(getProxyTokenContract, ({ tenant, caller, query }) =>
      giveProxyToken(deps, { tenant, caller, target: query.target }),
    ),
    bind(logOutVisitorContract, async ({ tenant, body: token, ip }) => {
      await takeLogout(deps, { tenant, token, ip })
      return 'ok' as const
    }),
    bind(listSessionsContract, ({ tenant, caller }) => listSessions(deps, { tenant, caller })),
    bind(revokeSessionContract, async ({ tenant, caller, params, ip }) => {
      await endSession(deps, { tenant, caller, sid: params.sid, ip })
      return 'ok' as const
    }),
    ...passwordEndpoints(deps),
    ...emailEndpoints(deps),
    ...qrEndpoints({ ...deps, qrWaiters: new QrWaiters(deps.clock) }),
    ...passkeyEndpoints(deps),
    ...apiKeyEndpoints(deps),
  ]
}
