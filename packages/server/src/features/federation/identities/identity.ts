import type { KeyObject } from 'node:crypto'
import type { IdTag } from '@kith/protocol'

/** The id of a key that its server published without a `kid`. It matches every `kid` that a token names. */
export const anyKid = '*'

/** A published key of an identity, as text. */
export interface PublishedKey {
  readonly kid: string
  /** PEM, SPKI, P-384. */
  readonly publicKey: string
  /** Unix seconds of its retirement; what was signed later is not valid. */
  readonly expiresAt?: number
  /** Unix seconds from which it is no longer trusted; what was signed then or later is not valid. */
  readonly revokedAt?: number
}

/** An identity as its server describes it. */
export interface PublishedIdentity {
  readonly idTag: IdTag
  /** The address of its API, without a slash at the end. */
  readonly serverUrl: string
  readonly inboxUrl: string
  /** The host of its inbox could not be asked whether it takes deliveries for the identity, so nothing is delivered
   * yet. */
  readonly isInboxUnsure?: true
  /** The current key first, then the retired ones. */
  readonly keys: readonly PublishedKey[]
  readonly name?: string
  readonly type?: 'person' | 'community'
  /** A file id at its server. */
  readonly profilePic?: string
}

export interface IdentityKey extends PublishedKey {
  /** Imported, to verify with. */
  readonly key: KeyObject
}

export interface Identity extends PublishedIdentity {
  readonly keys: readonly IdentityKey[]
}

/** `unknown`: there is no such identity. With `isGone` its server says so; otherwise its answer is no valid document,
 * which may change. `unreachable`: it cannot be found out now. */
export type ResolvedIdentity =
  | { readonly kind: 'found'; readonly identity: Identity }
  | { readonly kind: 'unknown'; readonly isGone?: true }
  | { readonly kind: 'unreachable' }

/** Is this the key that a token names? */
export function hasKid(key: Pick<PublishedKey, 'kid'>, kid: string): boolean {
  return key.kid === kid || key.kid === anyKid
}
