import type { ActionId, ActionTokenPayload, IdTag } from '@kith/protocol'
import type { Failure } from '#lib/failure.ts'

/** An action whose signature is its issuer's. */
export interface ReceivedAction {
  readonly token: string
  readonly payload: ActionTokenPayload
  readonly actionId: ActionId
  readonly issuerTag: IdTag
  /** The registrable domain of the issuer. */
  readonly issuerDomain: string
  /** What it passes on, when it is an announcement; of that too the signature is its issuer's. */
  readonly announced?: ReceivedAction | undefined
}

/** What became of an action at one tenant. `refused` is kept as deleted where it is not too old for that, and shown to
 * nobody; of what is `blocked`, not taken from a `stranger` or `limited` nothing is kept. */
export type ReceiveOutcome =
  | { readonly kind: 'stored' | 'known' | 'blocked' | 'stranger' }
  | { readonly kind: 'limited'; readonly retryAfterSecs: number }
  | { readonly kind: 'refused'; readonly failure: Failure }
