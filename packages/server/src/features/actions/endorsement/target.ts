import { type ActionId, type ActionTokenPayload, findActionType, parseActionId } from '@kith/protocol'
import { endingSubType, type StoredAction } from '../action.ts'

/** An action's id is made of its issuer and a nonce alone, so an issuer can give two servers different texts under one
 * id. What passes on, answers or reacts to an action therefore names its token too
 * (docs/protocol/actions.md, What an action is about). */

export type Endorsing = Pick<StoredAction, 'type' | 'subType' | 'subject' | 'parentId'>
type HashMember = 'subjectHash' | 'parentHash'

/** The action that this one says something about. */
export function targetIdOf({ type, subType, subject, parentId }: Endorsing): ActionId | undefined {
  if (subType === endingSubType) return undefined
  const endorses = findActionType(type)?.endorses
  // A reaction may name its subject as its parent.
  if (endorses === 'subject') return parseActionId(subject ?? parentId ?? '')
  return endorses === 'parentId' ? parentId : undefined
}

/** What a payload says of the token of `targetIdOf`. */
export function targetHashOf(action: Endorsing, payload: ActionTokenPayload): string | undefined {
  const member = hashMemberOf(action)
  return member && payload[member]
}

/** The same as the member of a payload. */
export function targetMembers(
  action: Endorsing & Pick<StoredAction, 'targetHash'>,
): Pick<ActionTokenPayload, HashMember> {
  const member = hashMemberOf(action)
  return member && action.targetHash !== undefined ? { [member]: action.targetHash } : {}
}

function hashMemberOf(action: Endorsing): HashMember | undefined {
  if (targetIdOf(action) === undefined) return undefined
  const isBySubject = findActionType(action.type)?.endorses === 'subject' && action.subject !== undefined
  return isBySubject ? 'subjectHash' : 'parentHash'
}
