import type { Profile, RelationshipChange } from '@kith/protocol'

/** The members of a profile that say what holds with it. */
export type Standing = Pick<Profile, 'following' | 'follower' | 'connected' | 'status' | 'relationship'>

/** What is expected to hold after a change, until the server has said so. */
export function afterChange(standing: Standing, change: RelationshipChange): Standing {
  const expected: Readonly<Record<RelationshipChange, Standing>> = {
    follow: { ...standing, following: true },
    unfollow: { ...standing, following: false },
    connect: { ...standing, connected: standing.connected === 'connected' ? 'connected' : 'pending' },
    disconnect: { ...standing, connected: 'disconnected' },
    block: { ...standing, status: 'Blocked' },
    unblock: { ...standing, status: 'Active' },
    mute: { ...standing, status: 'Muted' },
    unmute: { ...standing, status: 'Active' },
  }
  const made = expected[change]
  return { ...made, relationship: wordOf(made) }
}

function wordOf({ status, connected, following }: Standing): NonNullable<Profile['relationship']> {
  if (isBlocked(status)) return 'blocked'
  if (status === 'Muted') return 'muted'
  if (connected === 'connected' || connected === 'pending') return connected
  return following ? 'following' : 'none'
}

/** Is nothing taken from the identity? A suspension or a ban is a block and more. */
export function isBlocked(status: Profile['status']): boolean {
  return status === 'Blocked' || status === 'Suspended' || status === 'Banned'
}

/** What undoes a change; undefined where the other side would have to agree. */
export function undoOf(change: RelationshipChange): RelationshipChange | undefined {
  return undone[change]
}

const undone: Readonly<Partial<Record<RelationshipChange, RelationshipChange>>> = {
  follow: 'unfollow',
  unfollow: 'follow',
  block: 'unblock',
  unblock: 'block',
  mute: 'unmute',
  unmute: 'mute',
}

/** Does the change decide what reaches the owner, on every screen? */
export function isAboutHearing(change: RelationshipChange): boolean {
  return change === 'block' || change === 'unblock' || change === 'mute' || change === 'unmute'
}

/** Does the tenant hold what the identity publishes? */
export function isReceived({ following, connected }: Standing): boolean {
  return following === true || connected === 'connected'
}
