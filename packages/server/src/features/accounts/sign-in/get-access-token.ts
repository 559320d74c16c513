import {
  type AccessGrant,
  formatScope,
  intersectScopes,
  parseScope,
  type Scope,
  type ScopeItem,
} from '@kith/protocol'
import { getSignInEpoch, type SignInEpoch } from '#features/tenants/index.ts'
import type { Identified, Tenant } from '#infra/caller/index.ts'
import type { Database, TenantId } from '#infra/db/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { Failure, invalid } from '#lib/failure.ts'
import type { FindFileAccess } from '../references/create-reference.ts'
import type { Authenticated, Authenticator } from '../sessions/authenticator.ts'
import { exchangeProxyToken } from '../sessions/exchange-proxy-token.ts'
import { type IssueDeps, issueToken, rolesOf } from '../sessions/issue-token.ts'
import type { Session, TokenLifetimes } from '../sessions/session.ts'
import { findSession } from '../sessions/session-store.ts'
import type { Device } from '../sessions/start-session.ts'

export interface AccessTokenDeps extends IssueDeps {
  readonly db: Database
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
}

/** Exchanges a credential for a token of the same session, or of a new one for a proxy token. It is worth what was asked
 * and what the credential has, never more, and a token made from a token does not outlive it. */
export async function getAccessToken(deps: AccessTokenDeps, input: AccessTokenInput): Promise<AccessGrant> {
  const { tenant, presented } = input
  const asked = readScope(input.scope)
  if (presented === undefined) throw new Failure('E-AUTH-UNAUTH')
  const { ip } = input.device
  const epoch = await getSignInEpoch(deps.db.reader(tenant.tenantId))
  const authenticated = await deps.authenticator.authenticate({ tenant, bearer: presented, ip })
  const { caller, credential } = authenticated
  const narrowed = intersectScopes(caller.scope, asked)
  const scope =
    caller.kind === 'identity' ? await confirmFiles(deps, { tenant, caller, scope: narrowed }) : narrowed
  if (scope?.length === 0) throw new Failure('E-AUTH-FORBIDDEN')
  const { accessSecs } = await deps.findLifetimes(tenant.tenantId)
  const session = await sessionOf(deps, input, { ...authenticated, accessSecs, epoch })
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
): Promise<Pick<Session, 'sid' | 'callerTag' | 'expiresAt'>> {
  const { proxy, sid } = credential
  const session = proxy
    ? await exchangeProxyToken(deps, tenant, {
        proxy,
        device,
        epoch,
        expiresAt: nowSecs(deps.clock) + accessSecs,
      })
    : sid !== undefined && (await findSession(deps.db.reader(tenant.tenantId), sid))
  if (!session) throw new Failure('E-AUTH-UNAUTH')
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
