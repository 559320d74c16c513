import { findActionType } from '@kith/protocol'
import { endingSubType, type StoredAction } from './action.ts'

type Keyed = Pick<StoredAction, 'type' | 'audienceTag' | 'subject'>

/** What only one live action of an issuer may have; undefined for types of which there may be many. */
export function uniqueKeyOf(action: Keyed): string | undefined {
  const members = findActionType(action.type)?.uniqueBy
  return members && [action.type, ...members.map((member) => action[member] ?? '')].join(' ')
}

type Signed = Pick<StoredAction, 'issuedAt' | 'actionId' | 'subType'>

/** Which of two actions with the same key stands: the one signed later; of two of one second the one that ends, and
 * between equals the same one everywhere. */
export function isNewer(action: Signed, than: Signed): boolean {
  if (action.issuedAt !== than.issuedAt) return action.issuedAt > than.issuedAt
  if (isEnd(action) !== isEnd(than)) return isEnd(action)
  return action.actionId > than.actionId
}

function isEnd({ subType }: Signed): boolean {
  return subType === endingSubType
}
