import {
  formatScope,
  type IdTag,
  parseRefId,
  parseScope,
  type RefId,
  type RefusalReason,
  type Scope,
} from '@kith/protocol'
import { decodeProtectedHeader, jwtVerify, SignJWT } from 'jose'
import { JOSEError, JWSSignatureVerificationFailed, JWTClaimValidationFailed, JWTExpired } from 'jose/errors'
import type { Tenant } from '#infra/caller/index.ts'
import type { TokenSecrets } from '#infra/keys/index.ts'

/** What a token of this server's own is for. */
export type LocalTokenUse = 'login' | 'access' | 'ref' | 'apikey'

/** The claims of a token of this server, verified. */
interface LocalToken {
  readonly use: LocalTokenUse
  readonly sid: string
  /** Absent for those who hold a reference. */
  readonly callerTag?: IdTag
  readonly scope?: Scope
  /** The reference it was given for. */
  readonly refId?: RefId
  readonly roles: readonly string[]
  readonly expiresAt: number
}

const uses: readonly LocalTokenUse[] = ['login', 'access', 'ref', 'apikey']
const algorithm = 'HS256'

/** Signs a token that is valid only on this server, and there only on this tenant's host. */
export async function mintLocalToken(
  secrets: Pick<TokenSecrets, 'current'>,
  tenant: Tenant,
  token: LocalToken & { readonly issuedAt: number },
): Promise<string> {
  const { kid, key } = await secrets.current()
  return new SignJWT({
    tnId: tenant.tenantId,
    use: token.use,
    sid: token.sid,
    roles: token.roles,
    ...(token.callerTag === undefined ? {} : { sub: token.callerTag }),
    ...(token.scope === undefined ? {} : { scope: formatScope(token.scope) }),
    ...(token.refId === undefined ? {} : { ref: token.refId }),
  })
    .setProtectedHeader({ alg: algorithm, typ: 'JWT', kid })
    .setIssuer(tenant.idTag)
    .setIssuedAt(token.issuedAt)
    .setExpirationTime(token.expiresAt)
    .sign(key)
}

/** Is it of the kind that this server makes for itself? Says nothing of who made it. */
export function isLocalToken(token: string): boolean {
  try {
    return decodeProtectedHeader(token).alg === algorithm
  } catch {
    return false
  }
}

/** A reason when the token is not one of this tenant's, or has expired. */
export async function verifyLocalToken(
  secrets: Pick<TokenSecrets, 'find'>,
  tenant: Tenant,
  { token, now }: { token: string; now: number },
): Promise<LocalToken | RefusalReason> {
  try {
    const { payload } = await jwtVerify(
      token,
      async ({ kid }) => {
        const key = kid === undefined ? undefined : await secrets.find(kid)
        if (!key) throw new UnknownSecret()
        return key
      },
      {
        algorithms: [algorithm],
        issuer: tenant.idTag,
        typ: 'JWT',
        requiredClaims: ['exp', 'iat', 'sid', 'use'],
        currentDate: new Date(now * 1000),
      },
    )
    return payload.tnId === tenant.tenantId ? (fromClaims(payload) ?? 'malformed') : 'wrong-tenant'
  } catch (error) {
    if (error instanceof JOSEError) return reasonOf(error)
    throw error
  }
}

class UnknownSecret extends JOSEError {}

/** The signature is checked before the claims: faults of claims are those of a token that this server has signed. */
function reasonOf(error: JOSEError): RefusalReason {
  if (error instanceof JWTExpired) return 'expired'
  if (error instanceof UnknownSecret || error instanceof JWSSignatureVerificationFailed)
    return 'bad-signature'
  return error instanceof JWTClaimValidationFailed && error.claim === 'iss' ? 'wrong-tenant' : 'malformed'
}

function fromClaims(claims: Readonly<Record<string, unknown>>): LocalToken | undefined {
  const { sid, sub, scope, ref, roles, exp } = claims
  const use = uses.find((known) => known === claims.use)
  if (use === undefined || typeof sid !== 'string' || typeof exp !== 'number') return undefined
  const parsedScope = typeof scope === 'string' ? (parseScope(scope) ?? []) : undefined
  const refId = typeof ref === 'string' ? parseRefId(ref) : undefined
  return {
    use,
    sid,
    expiresAt: exp,
    roles: Array.isArray(roles) ? roles.filter((role) => typeof role === 'string') : [],
    ...(typeof sub === 'string' ? { callerTag: sub as IdTag } : {}),
    ...(parsedScope === undefined ? {} : { scope: parsedScope }),
    ...(refId === undefined ? {} : { refId }),
  }
}
