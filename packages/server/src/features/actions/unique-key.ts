import { findActionType } from '@kith/protocol'
import { endingSubType, type StoredAction } from './action.ts'

type Keyed = Pick<StoredAction, 'type' | 'audienceTag' | 'subject'>

/** The key of which an issuer has only one live action; undefined for types without such a limit. */
export function uniqueKeyOf(action: Keyed): string | undefined {
  const members = findActionType(action.type)?.uniqueBy
  return members && [action.type, ...members.map((member) => action[member] ?? '')].join(' ')
}

type Signed = Pick<StoredAction, 'issuedAt' | 'actionId' | 'subType'>

/** Which of two actions with the same key counts: the one signed later; within a second the one that ends; otherwise
 * the larger id, so that every server decides alike. */
export function isNewer(action: Signed, than: Signed): boolean {
  if (action.issuedAt !== than.issuedAt) return action.issuedAt > than.issuedAt
  if (isEnd(action) !== isEnd(than)) return isEnd(action)
  return action.actionId > than.actionId
}

function isEnd({ subType }: Signed): boolean {
  return subType === endingSubType
}
