import {
  endBrowserSession as endContract,
  refreshLogin as refreshContract,
  startBrowserSession as startContract,
} from '@kith/protocol'
import { bind, type Endpoint, Reshaped } from '#infra/http/index.ts'
import { nowSecs } from '#lib/clock.ts'
import type { CompleteLoginDeps } from '../sign-in/complete-login.ts'
import { refreshLogin } from '../sign-in/refresh-login.ts'
import { clearCookie, cookieValueOf, setCookie } from './browser-cookie.ts'
import { endBrowserSession, startBrowserSession } from './start-browser-session.ts'
import { useBrowserSession } from './use-browser-session.ts'

export function browserSessionEndpoints(deps: CompleteLoginDeps): Endpoint[] {
  return [
    bind(startContract, async ({ tenant, caller, browser }) => {
      const { value, expiresAt } = await startBrowserSession(deps, { tenant, caller })
      const headers = setCookie(browser, value, expiresAt - nowSecs(deps.clock))
      return new Reshaped({ expiresAt }, { headers })
    }),
    bind(endContract, async ({ tenant, caller, browser }) => {
      await endBrowserSession(deps, { tenant, caller })
      return new Reshaped('ok' as const, { headers: clearCookie(browser) })
    }),
    bind(refreshContract, async ({ tenant, caller, browser, ip }) => {
      if (caller.kind === 'identity') return refreshLogin(deps, { tenant, caller })
      const { login, cookie } = await useBrowserSession(deps, {
        tenant,
        cookieValue: cookieValueOf(browser),
        ip,
      })
      const headers = setCookie(browser, cookie.value, cookie.expiresAt - nowSecs(deps.clock))
      return new Reshaped(login, { headers })
    }),
  ]
}
