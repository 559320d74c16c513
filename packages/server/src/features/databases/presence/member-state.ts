import { type IdTag, rtdbLimits } from '@kith/protocol'
import { RtdbFailure } from '../engine/rtdb-failure.ts'
import { isJsonObject, type JsonObject, memberOf, plainObject } from '../engine/values.ts'

/** A state as others see it: the identity in it is the authenticated one, whatever the client says. Throws 413 for one that
 * is too large, and 400 for a `user` that is no object. */
export function stampedState(state: JsonObject, idTag: IdTag | undefined): string {
  const text = JSON.stringify(stamped(state, idTag))
  if (Buffer.byteLength(JSON.stringify(state)) > rtdbLimits.presenceBytes)
    throw new RtdbFailure(413, `a state has at most ${rtdbLimits.presenceBytes} bytes`)
  return text
}

function stamped(state: JsonObject, idTag: IdTag | undefined): JsonObject {
  const user = memberOf(state, 'user')
  if (user === undefined) return state
  if (!isJsonObject(user)) throw new RtdbFailure(400, 'user is an object')
  const { idTag: _, ...others } = plainObject(user)
  return { ...plainObject(state), user: idTag === undefined ? others : { ...others, idTag } }
}
