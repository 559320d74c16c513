import { type AccessGrant, parseRefId } from '@kith/protocol'
import type { Caller, Tenant } from '#infra/caller/index.ts'
import { Failure, invalid } from '#lib/failure.ts'
import {
  type ExchangeReferenceDeps,
  exchangeReference,
  renewReference,
} from '../references/exchange-reference.ts'
import { parseAppName } from '../sessions/app-session.ts'
import type { Device } from '../sessions/start-session.ts'
import { type AccessTokenDeps, getAccessToken } from './get-access-token.ts'
import { type FailedSignInDeps, loggingUnknown } from './log-failed-sign-in.ts'

export type ExchangeDeps = AccessTokenDeps & ExchangeReferenceDeps & FailedSignInDeps

interface Input {
  readonly tenant: Tenant
  readonly caller: Caller
  readonly device: Device
  readonly apiKey?: string
  readonly ref?: string
  readonly token?: string
  readonly bearer: string | undefined
  readonly refresh?: boolean
  readonly scope?: string
  readonly app?: string
}

/** The first credential that is there counts: API key, reference, token, bearer. */
export async function exchangeCredential(deps: ExchangeDeps, input: Input): Promise<AccessGrant> {
  const { tenant, caller, device, apiKey, ref, token, bearer, refresh, scope } = input
  const app = input.app === undefined ? undefined : parseAppName(input.app)
  if (apiKey !== undefined || ref === undefined)
    return getAccessToken(deps, { tenant, device, presented: apiKey ?? token ?? bearer, scope, app })
  if (app) throw invalid('/query/app', 'What a reference gives is given to no app.')
  return loggingUnknown(deps, { ip: device.ip, method: 'reference', tenant }, async () => {
    const refId = parseRefId(ref)
    if (refId === undefined) throw new Failure('E-NOTFOUND')
    return refresh
      ? await renewReference(deps, { tenant, caller, refId })
      : await exchangeReference(deps, { tenant, refId, device })
  })
}
