import { type ActionId, type ActionTokenPayload, findActionType, parseActionId } from '@kith/protocol'
import { endingSubType, type StoredAction } from '../action.ts'

/** An action's id is made of its issuer and a nonce alone, so an issuer can give two servers different texts under one
 * id. What passes on, answers or reacts to an action therefore names its token too
 * (docs/protocol/actions.md, What an action is about). */

export type Endorsing = Pick<StoredAction, 'type' | 'subType' | 'subject' | 'parentId' | 'rootId'>
type HashMembers = Pick<ActionTokenPayload, 'subjectHash' | 'parentHash' | 'rootHash'>
type Hashes = Pick<StoredAction, 'targetHash' | 'rootHash'>

/** The action that this one says something about. */
export function targetIdOf({ type, subType, subject, parentId }: Endorsing): ActionId | undefined {
  if (subType === endingSubType) return undefined
  const endorses = findActionType(type)?.endorses
  // A reaction may name its subject as its parent.
  if (endorses === 'subject') return parseActionId(subject ?? parentId ?? '')
  return endorses === 'parentId' ? parentId : undefined
}

/** The root of the thread in which it is a comment on another comment. */
export function rootTargetIdOf({ type, parentId, rootId }: Endorsing): ActionId | undefined {
  return type === 'CMNT' && rootId !== parentId ? rootId : undefined
}

/** What a payload says of the tokens of `targetIdOf` and `rootTargetIdOf`. */
export function hashesOf(action: Endorsing, payload: ActionTokenPayload): Hashes {
  const member = hashMemberOf(action)
  return {
    targetHash: member && payload[member],
    rootHash: rootTargetIdOf(action) && payload.rootHash,
  }
}

/** The same as members of a payload. */
export function hashMembers(action: Endorsing & Hashes): HashMembers {
  const { targetHash, rootHash } = action
  const member = hashMemberOf(action)
  return {
    ...(member && targetHash !== undefined ? { [member]: targetHash } : {}),
    ...(rootHash === undefined ? {} : { rootHash }),
  }
}

function hashMemberOf(action: Endorsing): 'subjectHash' | 'parentHash' | undefined {
  if (targetIdOf(action) === undefined) return undefined
  const isBySubject = findActionType(action.type)?.endorses === 'subject' && action.subject !== undefined
  return isBySubject ? 'subjectHash' : 'parentHash'
}

/** Has it the readers of its root, unless it says otherwise? */
export function hasInheritedReaders({ type }: Pick<StoredAction, 'type'>): boolean {
  return findActionType(type)?.defaultVisibility === 'inherited'
}
