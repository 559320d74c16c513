import { type KeyObject, randomBytes } from 'node:crypto'
import { type IdTag, parseIdTag, parseSignedToken, type RefusalReason } from '@kith/protocol'
import type { Tenant } from '#infra/caller/index.ts'
import { type Signatures, type SigningKeys, wasInForce } from '#infra/keys/index.ts'
import { clockSkewSecs } from '#lib/clock.ts'

/** `proxy`: proves the issuer. `logout`: says that what it proved has ended. */
export type IdentityTokenUse = 'proxy' | 'logout'

/** What a token says that an identity makes for the host of another one. */
export interface IdentityToken {
  readonly issuerTag: IdTag
  readonly jti: string
  readonly issuedAt: number
  readonly expiresAt: number
  /** The session at the issuer's own tenant that it is about, as its server names it to this one. */
  readonly sid?: string
  /** All of them. */
  readonly claims: Readonly<Record<string, unknown>>
}

/** A token of the right form of which the signature is not checked yet. */
export interface UnverifiedToken {
  readonly claimed: IdentityToken
  readonly kid: string
  readonly signingInput: string
  readonly signature: Uint8Array
}

/** The P-384 key with which an identity, of this server or another one, signs what names this `kid`; `expiresAt` when it
 * is retired, `revokedAt` when it was stolen. `asker` is the address that showed the token: what fails is charged to it.
 * `unknown-issuer` when there is no such identity, `key-unavailable` when it has no such key; `E-UNAVAILABLE` when its server cannot
 * be reached. */
export type FindIdentityKey = (
  idTag: IdTag,
  kid: string,
  asker: string,
) => Promise<
  | { readonly key: KeyObject; readonly expiresAt?: number; readonly revokedAt?: number }
  | Extract<RefusalReason, 'unknown-issuer' | 'key-unavailable'>
>

export interface IdentityTokenDeps {
  readonly signatures: Pick<Signatures, 'verify'>
  readonly findIdentityKey: FindIdentityKey
}

/** A token as it was shown, and when. */
export interface ShownToken {
  readonly token: string
  /** Unix seconds. */
  readonly now: number
}

const maxLength = 4096
/** Longer than any server has reason to make one: a stolen token must not be valid for years. */
export const longestLifeSecs = 3600
const jtiForm = /^[A-Za-z0-9._~-]{8,128}$/
const maxSidLength = 64

/** Signs a token of the tenant for the host of `target`. */
export async function signIdentityToken(
  keys: Pick<SigningKeys, 'sign'>,
  tenant: Tenant,
  token: {
    readonly use: IdentityTokenUse
    readonly target: IdTag
    readonly issuedAt: number
    readonly expiresAt: number
    readonly sid?: string | undefined
    readonly more?: Readonly<Record<string, unknown>>
  },
): Promise<string> {
  return keys.sign(tenant.tenantId, {
    iss: tenant.idTag,
    aud: token.target,
    use: token.use,
    jti: randomBytes(16).toString('base64url'),
    iat: token.issuedAt,
    exp: token.expiresAt,
    ...(token.sid === undefined ? {} : { sid: token.sid }),
    ...token.more,
  })
}

/** A reason when the token is not for this use and this tenant, or not valid now. */
export function readIdentityToken(
  use: IdentityTokenUse,
  tenant: Tenant,
  { token, now }: ShownToken,
): UnverifiedToken | RefusalReason {
  const parsed = parseSignedToken(token, maxLength)
  if ('problem' in parsed || parsed.payload.use !== use) return 'malformed'
  const claimed = readClaims(parsed.payload, tenant, now)
  return typeof claimed === 'string' ? claimed : { ...parsed, claimed }
}

/** Why the identity that the token names has not signed it; undefined when it has. */
export async function findFault(
  { signatures, findIdentityKey }: IdentityTokenDeps,
  { claimed, kid, signingInput, signature }: UnverifiedToken,
  asker: string,
): Promise<RefusalReason | undefined> {
  const found = await findIdentityKey(claimed.issuerTag, kid, asker)
  if (typeof found === 'string') return found
  if (!wasInForce(found, claimed.issuedAt)) return 'revoked'
  return (await signatures.verify(signingInput, signature, found.key, asker)) ? undefined : 'bad-signature'
}

function readClaims(
  claims: Readonly<Record<string, unknown>>,
  tenant: Tenant,
  now: number,
): IdentityToken | RefusalReason {
  const { iss, aud, jti, iat, exp, sid } = claims
  const issuerTag = typeof iss === 'string' ? parseIdTag(iss) : undefined
  if (issuerTag === undefined || issuerTag !== iss) return 'malformed'
  if (typeof jti !== 'string' || !jtiForm.test(jti)) return 'malformed'
  if (!isWhole(iat) || !isWhole(exp)) return 'malformed'
  // A token of a tenant for itself could not be revoked.
  if (aud !== tenant.idTag || issuerTag === tenant.idTag) return 'wrong-tenant'
  if (exp <= now) return 'expired'
  if (exp <= iat || exp - iat > longestLifeSecs || iat > now + clockSkewSecs) return 'malformed'
  const isNamed = typeof sid === 'string' && sid.length > 0 && sid.length <= maxSidLength
  return { issuerTag, jti, issuedAt: iat, expiresAt: exp, claims, ...(isNamed ? { sid } : {}) }
}

function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value)
}
