import type { ActionId, ActionTokenPayload, IdTag } from '@kith/protocol'
import type { Failure } from '#lib/failure.ts'

/** An action whose signature has been verified. */
export interface ReceivedAction {
  readonly token: string
  readonly payload: ActionTokenPayload
  readonly actionId: ActionId
  readonly issuerTag: IdTag
  /** The registrable domain of the issuer. */
  readonly issuerDomain: string
  /** The announced action, if this is an announcement; its signature has been verified too. */
  readonly announced?: ReceivedAction | undefined
}

/** The outcome for an action at one tenant. A `refused` action is stored as deleted, unless it is too old, and shown to
 * nobody. Nothing is stored for `blocked`, `stranger` and `limited`. */
export type ReceiveOutcome =
  | { readonly kind: 'stored' | 'known' | 'blocked' | 'stranger' }
  | { readonly kind: 'limited'; readonly retryAfterSecs: number }
  | { readonly kind: 'refused'; readonly failure: Failure }
