import { type KeyObject, randomBytes } from 'node:crypto'
import { type IdTag, parseIdTag } from '@kith/protocol'
import { decodeJwt, decodeProtectedHeader, type JWTPayload, jwtVerify } from 'jose'
import { JOSEError } from 'jose/errors'
import type { Tenant } from '#infra/caller/index.ts'
import type { SigningKeys } from '#infra/keys/index.ts'

/** What a proxy token says, once its issuer's signature is checked. */
export interface ProxyToken {
  readonly issuerTag: IdTag
  readonly jti: string
  readonly issuedAt: number
  readonly expiresAt: number
}

/** The P-384 key with which an identity, of this server or another one, signs what names this `kid`; `expiresAt` when it
 * is retired. Undefined when there is no such identity or key, `E-UNAVAILABLE` when its server cannot be reached. */
export type FindIdentityKey = (
  idTag: IdTag,
  kid: string,
) => Promise<{ readonly key: KeyObject; readonly expiresAt?: number } | undefined>

const algorithm = 'ES384'
// Clocks of two servers differ; a token from further ahead was not made now.
const clockSkewSecs = 300
// Longer than any server has reason to make one: a stolen token must not serve for years.
const longestLifeSecs = 3600
const kidForm = /^[A-Za-z0-9_-]{1,64}$/
const jtiForm = /^[A-Za-z0-9._~-]{8,128}$/

/** Signs a token that proves to `target` who asks. */
export async function mintProxyToken(
  keys: Pick<SigningKeys, 'sign'>,
  tenant: Tenant,
  token: { target: IdTag; issuedAt: number; expiresAt: number },
): Promise<string> {
  return keys.sign(tenant.tenantId, {
    iss: tenant.idTag,
    aud: token.target,
    use: 'proxy',
    jti: randomBytes(16).toString('base64url'),
    iat: token.issuedAt,
    exp: token.expiresAt,
  })
}

/** Undefined when the token was not made for this tenant by the identity it names, or is not valid now. */
export async function verifyProxyToken(
  findIdentityKey: FindIdentityKey,
  tenant: Tenant,
  { token, now }: { token: string; now: number },
): Promise<ProxyToken | undefined> {
  try {
    // Nothing of this is believed yet: it says whose key to check with, and spares the look-up for what cannot pass.
    const claimed = readClaims(decodeJwt(token), tenant, now)
    const { kid } = decodeProtectedHeader(token)
    if (!claimed || kid === undefined || !kidForm.test(kid)) return undefined
    const found = await findIdentityKey(claimed.issuerTag, kid)
    if (!found || (found.expiresAt !== undefined && claimed.issuedAt > found.expiresAt)) return undefined
    await jwtVerify(token, found.key, {
      algorithms: [algorithm],
      typ: 'JWT',
      currentDate: new Date(now * 1000),
    })
    return claimed
  } catch (error) {
    if (error instanceof JOSEError) return undefined
    throw error
  }
}

function readClaims(claims: JWTPayload, tenant: Tenant, now: number): ProxyToken | undefined {
  const { iss, aud, use, jti, iat, exp } = claims
  const issuerTag = typeof iss === 'string' ? parseIdTag(iss) : undefined
  if (use !== 'proxy' || aud !== tenant.idTag || issuerTag === undefined || issuerTag !== iss)
    return undefined
  if (typeof jti !== 'string' || !jtiForm.test(jti)) return undefined
  if (typeof iat !== 'number' || typeof exp !== 'number') return undefined
  if (iat > now + clockSkewSecs || exp <= now || exp - iat > longestLifeSecs) return undefined
  return { issuerTag, jti, issuedAt: iat, expiresAt: exp }
}
