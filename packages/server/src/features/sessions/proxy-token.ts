import { type KeyObject, randomBytes } from 'node:crypto'
import { type IdTag, parseIdTag, parseSignedToken } from '@kith/protocol'
import type { Tenant } from '#infra/caller/index.ts'
import type { Signatures, SigningKeys } from '#infra/keys/index.ts'

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

const maxLength = 4096
// Clocks of two servers differ; a token from further ahead was not made now.
const clockSkewSecs = 300
// Longer than any server has reason to make one: a stolen token must not serve for years.
const longestLifeSecs = 3600
const jtiForm = /^[A-Za-z0-9._~-]{8,128}$/

export interface ProxyTokenDeps {
  readonly signatures: Pick<Signatures, 'verify'>
  readonly findIdentityKey: FindIdentityKey
}

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
  { signatures, findIdentityKey }: ProxyTokenDeps,
  tenant: Tenant,
  { token, now }: { token: string; now: number },
): Promise<ProxyToken | undefined> {
  const parsed = parseSignedToken(token, maxLength)
  if ('problem' in parsed) return undefined
  // Nothing of this is believed yet: it says whose key to check with, and spares the look-up for what cannot pass.
  const claimed = readClaims(parsed.payload, tenant, now)
  const found = claimed && (await findIdentityKey(claimed.issuerTag, parsed.kid))
  if (!found || (found.expiresAt !== undefined && claimed.issuedAt > found.expiresAt)) return undefined
  const isValid = await signatures.verify(parsed.signingInput, parsed.signature, found.key)
  return isValid ? claimed : undefined
}

function readClaims(
  claims: Readonly<Record<string, unknown>>,
  tenant: Tenant,
  now: number,
): ProxyToken | undefined {
  const { iss, aud, use, jti, iat, exp } = claims
  const issuerTag = typeof iss === 'string' ? parseIdTag(iss) : undefined
  if (use !== 'proxy' || aud !== tenant.idTag || issuerTag === undefined || issuerTag !== iss)
    return undefined
  if (typeof jti !== 'string' || !jtiForm.test(jti)) return undefined
  if (typeof iat !== 'number' || typeof exp !== 'number') return undefined
  if (iat > now + clockSkewSecs || exp <= now || exp - iat > longestLifeSecs) return undefined
  return { issuerTag, jti, issuedAt: iat, expiresAt: exp }
}
