import {
  type AccessGrant,
  formatScope,
  intersectScopes,
  parseScope,
  type Scope,
  type ScopeItem,
} from '@kith/protocol'
import { getSignInEpoch, type SignInEpoch } from '#features/tenants/index.ts'
import { type Identified, isOwner, type Tenant } from '#infra/caller/index.ts'
import type { TenantId } from '#infra/db/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { Failure, invalid, tooNarrow, unauthenticated } from '#lib/failure.ts'
import type { FindFileAccess } from '../references/create-reference.ts'
import { type AppName, type AppSessionDeps, appSession } from '../sessions/app-session.ts'
import type { Authenticated, Authenticator } from '../sessions/authenticator.ts'
import { exchangeProxyToken } from '../sessions/exchange-proxy-token.ts'
import { type IssueDeps, issueToken, rolesOf } from '../sessions/issue-token.ts'
import { earliest, type Session, type TokenLifetimes } from '../sessions/session.ts'
import { findSession } from '../sessions/session-store.ts'
import type { Device } from '../sessions/start-session.ts'

export interface AccessTokenDeps extends IssueDeps, AppSessionDeps {
  readonly authenticator: Pick<Authenticator, 'authenticate'>
  findLifetimes(tenantId: TenantId): Promise<TokenLifetimes>
  readonly findFileAccess: FindFileAccess
}

interface AccessTokenInput {
  readonly tenant: Tenant
  readonly device: Device
  /** The credential: one of this tenant's tokens, a proxy token for it, or an API key. */
  readonly presented: string | undefined
  readonly scope: string | undefined
  /** Which is given the token; it ends when that is uninstalled. */
  readonly app?: AppName | undefined
}

/** Exchanges a credential for a token of the same session, or of a new one for a proxy token. It is worth what was asked
 * and what the credential has, never more, and a token made from a token does not outlive it. */
export async function getAccessToken(deps: AccessTokenDeps, input: AccessTokenInput): Promise<AccessGrant> {
  const { tenant, presented } = input
  const asked = readScope(input.scope)
  if (presented === undefined) throw unauthenticated('missing')
  const { ip } = input.device
  const epoch = await getSignInEpoch(deps.db.reader(tenant.tenantId))
  const authenticated = await deps.authenticator.authenticate({ tenant, bearer: presented, ip })
  const { caller, credential } = authenticated
  if (input.app) assertForApp(caller, asked)
  const narrowed = intersectScopes(caller.scope, asked)
  const scope =
    caller.kind === 'identity' ? await confirmFiles(deps, { tenant, caller, scope: narrowed }) : narrowed
  // The owner may know which files there are.
  if (scope?.length === 0 && input.app && narrowed?.length !== 0) throw new Failure('E-FILE-NOTFOUND')
  if (narrowed?.length === 0) throw tooNarrow(input.scope)
  if (scope?.length === 0) throw new Failure('E-AUTH-FORBIDDEN')
  const { accessSecs, sessionSecs } = await deps.findLifetimes(tenant.tenantId)
  const own = await sessionOf(deps, input, { ...authenticated, accessSecs, epoch })
  const { app, device } = input
  const expiresAt = earliest(nowSecs(deps.clock) + sessionSecs, own.expiresAt)
  const session = app ? await appSession(deps, tenant, { app, within: own, device, epoch, expiresAt }) : own
  const issued = await issueToken(deps, tenant, {
    use: tokenUseOf(authenticated),
    sid: session.sid,
    callerTag: session.callerTag,
    scope,
    refId: caller.kind === 'reference' ? caller.refId : undefined,
    roles: caller.kind === 'identity' ? rolesOf(tenant, caller) : [],
    lifeSecs: accessSecs,
    notAfter: [session.expiresAt, credential.proxy ? undefined : credential.expiresAt],
  })
  return { ...issued, ...(scope === undefined ? {} : { scope: formatScope(scope).replaceAll(' ', ',') }) }
}

async function sessionOf(
  deps: AccessTokenDeps,
  { tenant, device }: AccessTokenInput,
  { credential, accessSecs, epoch }: Authenticated & { accessSecs: number; epoch: SignInEpoch },
): Promise<Session> {
  const { proxy, sid } = credential
  const session = proxy
    ? await exchangeProxyToken(deps, tenant, {
        proxy,
        device,
        epoch,
        expiresAt: nowSecs(deps.clock) + accessSecs,
      })
    : sid !== undefined && (await findSession(deps.db.reader(tenant.tenantId), sid))
  if (!session) throw unauthenticated('revoked')
  return session
}

/** Rights on single files are given only as far as the caller has them now. */
async function confirmFiles(
  { findFileAccess }: Pick<AccessTokenDeps, 'findFileAccess'>,
  { tenant, caller, scope }: { tenant: Tenant; caller: Identified; scope: Scope | undefined },
): Promise<Scope | undefined> {
  if (scope === undefined) return undefined
  const confirmed: ScopeItem[] = []
  for (const item of scope) {
    if (!('fileId' in item)) confirmed.push(item)
    else {
      const access = await findFileAccess(tenant, caller, item.fileId)
      if (access) confirmed.push({ ...item, level: access === 'read' ? 'read' : item.level })
    }
  }
  return confirmed
}

/** Only the owner opens files with the tenant's apps, and an app is given single files. */
function assertForApp(caller: Authenticated['caller'], asked: Scope | undefined): void {
  if (!isOwner(caller)) throw new Failure('E-AUTH-FORBIDDEN')
  if (!asked?.every((item) => 'fileId' in item))
    throw invalid('/query/scope', 'A token for an app names the files that it is for, and nothing else.')
}

function tokenUseOf({ caller }: Authenticated): 'access' | 'apikey' | 'ref' {
  if (caller.kind === 'reference') return 'ref'
  return caller.tokenUse === 'apikey' ? 'apikey' : 'access'
}

function readScope(text: string | undefined): Scope | undefined {
  if (text === undefined) return undefined
  const scope = parseScope(text)
  if (!scope) throw invalid('/query/scope', 'This names a scope that does not exist.')
  return scope
}
