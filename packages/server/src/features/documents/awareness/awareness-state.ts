import { crdtLimits, type IdTag } from '@kith/protocol'

/** The state of a client that is gone. */
export const gone = 'null'

/** A state as it may be shown to others: `user.idTag` says who was authenticated, and nothing of guests. `malformed` when
 * it is no JSON, `refused` when it is longer than allowed, or has a `user` that is no object. */
export function stampState(state: string, idTag: IdTag | undefined): string | 'malformed' | 'refused' {
  const stamped = stamp(state, idTag)
  // Numbers such as 1e20 grow when they are written anew.
  return Buffer.byteLength(stamped) > crdtLimits.awarenessStateBytes ? 'refused' : stamped
}

function stamp(state: string, idTag: IdTag | undefined): string | 'malformed' | 'refused' {
  try {
    const value: unknown = JSON.parse(state)
    if (value === null) return gone
    if (!isObject(value) || !Object.hasOwn(value, 'user')) return state
    if (!isObject(value.user)) return 'refused'
    const { idTag: _claimed, ...user } = value.user
    if (idTag === undefined && _claimed === undefined) return state
    return JSON.stringify({ ...value, user: idTag === undefined ? user : { ...user, idTag } })
  } catch {
    return 'malformed'
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
