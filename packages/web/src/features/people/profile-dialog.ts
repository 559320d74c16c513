import type { Profile, RelationshipChange } from '@kith/protocol'

/** What the dialogs about an identity are given. */
export interface ProfileDialog {
  readonly profile: Profile
  readonly name: string
  readonly onClose: () => void
  readonly onChange: (change: RelationshipChange, message?: string) => void
}
