import type { RtdbLockMode } from '@kith/protocol'

/** Who holds a lock, how and until when. */
export interface HeldLock {
  readonly path: string
  /** An identity, or `anon:{connId}`. */
  readonly holder: string
  /** The connection that took it last: the lock ends with it. */
  readonly connId: string
  readonly mode: RtdbLockMode
  /** Unix seconds. */
  readonly expiresAt: number
}
