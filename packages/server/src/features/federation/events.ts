import type { IdTag } from '@kith/protocol'

/** The server of an identity has revoked one of its keys, from a time on. */
export interface IdentityEvent {
  readonly kind: 'key.revoked'
  readonly idTag: IdTag
  readonly kid: string
  /** Unix seconds. */
  readonly since: number
}
