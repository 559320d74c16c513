import type { IdTag } from '@kith/protocol'

/** The server of an identity distrusts a key of it since then. */
export interface IdentityEvent {
  readonly kind: 'key.revoked'
  readonly idTag: IdTag
  readonly kid: string
  /** Unix seconds. */
  readonly since: number
}
