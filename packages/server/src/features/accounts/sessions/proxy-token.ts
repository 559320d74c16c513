import { type KeyObject, randomBytes } from 'node:crypto'
import { type IdTag, parseIdTag, parseSignedToken } from '@kith/protocol'
import type { Tenant } from '#infra/caller/index.ts'
import { type Signatures, type SigningKeys, wasInForce } from '#infra/keys/index.ts'
import { clockSkewSecs } from '#lib/clock.ts'

/** What a proxy token says, once its issuer's signature is checked. */
export interface ProxyToken {
  readonly issuerTag: IdTag
  readonly jti: string
  readonly issuedAt: number
  readonly expiresAt: number
  /** The session at the issuer's own tenant that it was made in, where that is a tenant of the server it is for. */
  readonly homeSid?: string
  /** Was it made with an API key? */
  readonly isByKey: boolean
}

/** The P-384 key with which an identity, of this server or another one, signs what names this `kid`; `expiresAt` when it
 * is retired, `revokedAt` when it was stolen. `asker` is the address that showed the token: what fails is charged to it.
 * Undefined when there is no such identity or key, `E-UNAVAILABLE` when its server cannot be reached. */
export type FindIdentityKey = (
  idTag: IdTag,
  kid: string,
  asker: string,
) => Promise<
  { readonly key: KeyObject; readonly expiresAt?: number; readonly revokedAt?: number } | undefined
>

const maxLength = 4096
// Longer than any server has reason to make one: a stolen token must not be valid for years.
const longestLifeSecs = 3600
const jtiForm = /^[A-Za-z0-9._~-]{8,128}$/
const maxSidLength = 64
const byKey = 'apikey'

export interface ProxyTokenDeps {
  readonly signatures: Pick<Signatures, 'verify'>
  readonly findIdentityKey: FindIdentityKey
}

/** Signs a token that proves the tenant's identity to `target`. */
export async function mintProxyToken(
  keys: Pick<SigningKeys, 'sign'>,
  tenant: Tenant,
  token: { target: IdTag; issuedAt: number; expiresAt: number; homeSid?: string; isByKey?: boolean },
): Promise<string> {
  return keys.sign(tenant.tenantId, {
    iss: tenant.idTag,
    aud: token.target,
    use: 'proxy',
    jti: randomBytes(16).toString('base64url'),
    iat: token.issuedAt,
    exp: token.expiresAt,
    ...(token.homeSid === undefined ? {} : { sid: token.homeSid }),
    ...(token.isByKey ? { via: byKey } : {}),
  })
}

/** Undefined when the token was not made for this tenant by the identity it names, or is not valid now. */
export async function verifyProxyToken(
  { signatures, findIdentityKey }: ProxyTokenDeps,
  tenant: Tenant,
  { token, now, asker }: { token: string; now: number; asker: string },
): Promise<ProxyToken | undefined> {
  const parsed = parseSignedToken(token, maxLength)
  if ('problem' in parsed) return undefined
  // Not verified yet: it names the key to verify with, and spares the look-up for tokens that cannot be valid.
  const claimed = readClaims(parsed.payload, tenant, now)
  const found = claimed && (await findIdentityKey(claimed.issuerTag, parsed.kid, asker))
  if (!found || !wasInForce(found, claimed.issuedAt)) return undefined
  const isValid = await signatures.verify(parsed.signingInput, parsed.signature, found.key, asker)
  return isValid ? claimed : undefined
}

function readClaims(
  claims: Readonly<Record<string, unknown>>,
  tenant: Tenant,
  now: number,
): ProxyToken | undefined {
  const { iss, aud, use, jti, iat, exp, sid, via } = claims
  const issuerTag = typeof iss === 'string' ? parseIdTag(iss) : undefined
  if (use !== 'proxy' || aud !== tenant.idTag || issuerTag === undefined || issuerTag !== iss)
    return undefined
  // A token of a tenant for itself could not be revoked.
  if (issuerTag === tenant.idTag) return undefined
  if (typeof jti !== 'string' || !jtiForm.test(jti)) return undefined
  if (!isWhole(iat) || !isWhole(exp) || exp <= iat) return undefined
  if (iat > now + clockSkewSecs || exp <= now || exp - iat > longestLifeSecs) return undefined
  const homeSid = typeof sid === 'string' && sid.length <= maxSidLength ? sid : undefined
  return {
    issuerTag,
    jti,
    issuedAt: iat,
    expiresAt: exp,
    isByKey: via === byKey,
    ...(homeSid === undefined ? {} : { homeSid }),
  }
}

function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value)
}
