import { createHash, type KeyObject } from 'node:crypto'
import type { IdTag, RefusalReason } from '@kith/protocol'
import { LRUCache } from 'lru-cache'
import type { ReadToken } from '#features/actions/index.ts'
import { JobVerdict } from '#infra/jobs/index.ts'
import { wasInForce } from '#infra/keys/index.ts'
import { Failure, unauthenticated } from '#lib/failure.ts'
import { hasKid } from '../identities/identity.ts'
import type { CheckedToken } from './check-token.ts'

/** A key of an issuer, ready to verify with. */
export interface IssuerKey {
  readonly kid: string
  readonly key: KeyObject
  /** Unix seconds of its retirement: it verifies only what was signed before. */
  readonly expiresAt?: number
  /** Unix seconds from which it is no longer trusted. */
  readonly revokedAt?: number
}

export type IssuerKeys =
  | { readonly kind: 'found'; readonly keys: readonly IssuerKey[] }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'unreachable' }

export interface VerifyDeps {
  /** The issuer's keys; `refresh` asks its server again, as often as that is allowed. A failure is charged to the
   * sender, an address. */
  readonly findKeys: (
    issuerTag: IdTag,
    options: { readonly refresh: boolean; readonly sender: string },
  ) => Promise<IssuerKeys>
  /** Counts a token whose signature is the issuer's own; throws `E-RATELIMIT` when it has sent too many. */
  readonly admitIssuer: (issuerTag: IdTag) => Promise<void>
  /** ES384 over `signingInput`, off the main thread. */
  readonly verifySignature: (signingInput: string, signature: Uint8Array, key: KeyObject) => Promise<boolean>
}

/** The sender of waiting tokens, whoever sent them. Their jobs space out the look-ups. */
export const waitingSender = 'waiting'

// One entry takes about 150 bytes. A token comes again when it is redelivered or relayed.
const maxVerdicts = 5000

/** Verifies tokens, each once: a valid one is remembered by the hash of its text. */
export function openTokenVerifier(deps: VerifyDeps) {
  const valid = new LRUCache<string, true>({ max: maxVerdicts })
  return {
    /** True when the signature is the issuer's, `unreachable` when its key cannot be fetched now; otherwise
     * `E-AUTH-UNAUTH`. An announced token is verified as well. */
    async verify(token: CheckedToken, sender: string): Promise<true | 'unreachable'> {
      const verdict = await verifyOne(token, sender)
      return verdict === true && token.announced ? verifyOne(token.announced, sender) : verdict
    },
    /** The same for a token that was received long ago, which does not count as one that its issuer has sent. False
     * when the signature is not the issuer's, or of a key that it does not show any more. */
    async verifyMoved(token: ReadToken, sender: string): Promise<boolean | 'unreachable'> {
      try {
        const key = await findKey(deps, token, sender)
        return key === 'unreachable' ? key : await hasSigned(token, key)
      } catch (error) {
        if (error instanceof Failure && error.code === 'E-AUTH-UNAUTH') return false
        throw error
      }
    },
  }

  function hasSigned({ parsed }: ReadToken, key: KeyObject): Promise<boolean> {
    return deps.verifySignature(parsed.signingInput, parsed.signature, key)
  }

  async function verifyOne(token: CheckedToken, sender: string): Promise<true | 'unreachable'> {
    // NOTE: before the remembered result, which is worth nothing if the key has been revoked since.
    const key = await findKey(deps, token, sender)
    if (key === 'unreachable') return key
    const hash = createHash('sha256').update(token.text).digest('base64')
    if (valid.has(hash)) return true
    if (!(await hasSigned(token, key))) throw unauthenticated('bad-signature', naming(token))
    // After the signature, so that nobody can use up the limit of another issuer. A token that is refused here is sent
    // again.
    await deps.admitIssuer(token.issuerTag)
    valid.set(hash, true)
    return true
  }
}

export type TokenVerifier = ReturnType<typeof openTokenVerifier>

/** Verifies the token of a job, whatever was found when it was queued: an imported queue may have been written by
 * anybody. False when it is permanently refused. Throws for a retry when the key cannot be fetched yet. */
export async function isGenuine(
  { verifier }: { readonly verifier: Pick<TokenVerifier, 'verify'> },
  token: CheckedToken,
): Promise<boolean> {
  try {
    if ((await verifier.verify(token, waitingSender)) !== 'unreachable') return true
  } catch (error) {
    if (error instanceof Failure && error.code === 'E-AUTH-UNAUTH') return false
    throw error
  }
  throw new JobVerdict('the issuer’s key cannot be had', { kind: 'retry' })
}

async function findKey(
  deps: VerifyDeps,
  token: ReadToken,
  sender: string,
): Promise<KeyObject | 'unreachable'> {
  const known = await deps.findKeys(token.issuerTag, { refresh: false, sender })
  const key = pickKey(known, token)
  if (key) return key
  // A revocation is final, so there is nothing to ask or to wait for.
  if (isRevoked(known, token)) throw unauthenticated('revoked', naming(token))
  // The issuer may have rotated its keys since they were fetched.
  const fresh =
    known.kind === 'found' ? await deps.findKeys(token.issuerTag, { refresh: true, sender }) : known
  if (fresh.kind === 'unreachable') return 'unreachable'
  const rotated = pickKey(fresh, token)
  if (!rotated) throw unauthenticated(missingKeyReason(fresh, token), naming(token))
  return rotated
}

function missingKeyReason(found: IssuerKeys, token: ReadToken): RefusalReason {
  if (found.kind === 'unknown') return 'unknown-issuer'
  return findByKid(found, token) ? 'revoked' : 'key-unavailable'
}

/** What the log says of a refused token. */
function naming({ issuerTag, parsed }: ReadToken) {
  return { logged: { issuerTag, kid: parsed.kid } }
}

function isRevoked(found: IssuerKeys, token: ReadToken): boolean {
  const { revokedAt } = findByKid(found, token) ?? {}
  return revokedAt !== undefined && token.payload.iat >= revokedAt
}

function findByKid(found: IssuerKeys, { parsed }: ReadToken): IssuerKey | undefined {
  return found.kind === 'found' ? found.keys.find((candidate) => hasKid(candidate, parsed.kid)) : undefined
}

function pickKey(found: IssuerKeys, token: ReadToken): KeyObject | undefined {
  const match = findByKid(found, token)
  return match && wasInForce(match, token.payload.iat) ? match.key : undefined
}
