import type { IdTag, RefId, RefusalReason, Scope } from '@kith/protocol'
import type { Identified, Tenant } from '#infra/caller/index.ts'
import type { Database } from '#infra/db/index.ts'
import type { TokenSecrets } from '#infra/keys/index.ts'
import { isApiKey } from './api-key.ts'
import type { IdentityTokenDeps } from './identity-token.ts'
import { isLocalToken, verifyLocalToken } from './local-token.ts'
import { type ProxyToken, verifyProxyToken } from './proxy-token.ts'
import { secretHash } from './session.ts'
import { findSessionBySecret } from './session-store.ts'

/** What a bearer proves by itself. It stays true as long as the bearer lives, so it is cached. */
export interface Credential {
  readonly tokenUse: Identified['tokenUse']
  /** Absent for proxy tokens: they are no session of this server. */
  readonly sid?: string
  readonly callerTag?: IdTag
  readonly scope?: Scope
  readonly refId?: RefId
  /** Infinity for an API key without an end. */
  readonly expiresAt: number
  readonly proxy?: ProxyToken
}

export interface CredentialDeps extends IdentityTokenDeps {
  readonly db: Database
  readonly secrets: Pick<TokenSecrets, 'find'>
}

// Ours have some 400 bytes; longer ones are refused unread.
const maxBearerLength = 8192

/** Checks a bearer as one of this tenant's tokens, a proxy token for it, or an API key; why it is refused when it is none of these.
 * `asker` is the address that showed it, as it counts where requests are limited. */
export async function verifyBearer(
  deps: CredentialDeps,
  tenant: Tenant,
  { token, now, asker }: { token: string; now: number; asker: string },
): Promise<Credential | RefusalReason> {
  if (token.length > maxBearerLength) return 'malformed'
  if (token.startsWith('sk_')) return verifyApiKey(deps, tenant, token)
  if (isLocalToken(token)) {
    const local = await verifyLocalToken(deps.secrets, tenant, { token, now })
    return typeof local === 'string' ? local : { ...local, tokenUse: local.use }
  }
  const proxy = await verifyProxyToken(deps, tenant, { token, now, asker })
  if (typeof proxy === 'string') return proxy
  const { issuerTag: callerTag, expiresAt, isByKey } = proxy
  return { tokenUse: isByKey ? 'apikey' : 'proxy', callerTag, expiresAt, proxy }
}

async function verifyApiKey({ db }: CredentialDeps, tenant: Tenant, token: string) {
  if (!isApiKey(token)) return 'malformed'
  const session = await findSessionBySecret(db.reader(tenant.tenantId), secretHash(token))
  if (!session?.callerTag) return 'revoked'
  const credential: Credential = {
    tokenUse: 'apikey',
    sid: session.sid,
    callerTag: session.callerTag,
    expiresAt: session.expiresAt ?? Number.POSITIVE_INFINITY,
  }
  return credential
}
