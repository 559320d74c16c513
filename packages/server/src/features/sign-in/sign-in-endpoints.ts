import {
  getAccessToken as getAccessTokenContract,
  getProxyToken as getProxyTokenContract,
  listSessions as listSessionsContract,
  login as loginContract,
  logout as logoutContract,
  parseRefId,
  refreshLogin as refreshLoginContract,
  revokeSession as revokeSessionContract,
  setPassword as setPasswordContract,
} from '@kith/protocol'
import { bind, type Endpoint } from '#infra/http/index.ts'
import { type AccessTokenDeps, getAccessToken } from './get-access-token.ts'
import { getProxyToken, type ProxyTokenDeps } from './get-proxy-token.ts'
import { type LoginDeps, login } from './login.ts'
import { endSession, listSessions, logout } from './manage-sessions.ts'
import { refreshLogin } from './refresh-login.ts'
import { type SetPasswordDeps, setPasswordByReference } from './set-password.ts'

export interface SignInDeps extends LoginDeps, AccessTokenDeps, ProxyTokenDeps, SetPasswordDeps {
  readonly authenticator: AccessTokenDeps['authenticator'] & SetPasswordDeps['authenticator']
}

export function signInEndpoints(deps: SignInDeps): Endpoint[] {
  return [
    bind(loginContract, ({ tenant, body, ...device }) => login(deps, { tenant, ...body, device })),
    bind(logoutContract, async ({ tenant, caller, ip }) => {
      await logout(deps, { tenant, caller, ip })
      return 'ok' as const
    }),
    bind(refreshLoginContract, ({ tenant, caller }) => refreshLogin(deps, { tenant, caller })),
    bind(getAccessTokenContract, ({ tenant, query, bearer, ...device }) =>
      getAccessToken(deps, {
        tenant,
        device,
        presented: query.apiKey ?? query.token ?? bearer,
        scope: query.scope,
      }),
    ),
    bind(getProxyTokenContract, ({ tenant, caller, query }) =>
      getProxyToken(deps, { tenant, caller, target: query.target }),
    ),
    bind(listSessionsContract, ({ tenant, caller }) => listSessions(deps, { tenant, caller })),
    bind(revokeSessionContract, async ({ tenant, caller, params, ip }) => {
      await endSession(deps, { tenant, caller, sid: params.sid, ip })
      return 'ok' as const
    }),
    bind(setPasswordContract, async ({ tenant, body, ip }) => {
      const refId = parseRefId(body.token)
      await setPasswordByReference(deps, { tenant, refId, password: body.password, ip })
      return { success: true }
    }),
  ]
}
