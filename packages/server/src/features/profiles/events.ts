import type { IdTag } from '@kith/protocol'
import type { ProfileMember } from './profile.ts'

/** What a profile says of itself has changed: of a tenant, or at the server's own of an identity elsewhere. */
export interface ProfileEvent {
  readonly kind: 'profile.changed'
  readonly idTag: IdTag
  readonly members: readonly ProfileMember[]
}
