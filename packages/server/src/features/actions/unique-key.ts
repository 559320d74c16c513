import { findActionType } from '@kith/protocol'
import type { StoredAction } from './action.ts'

type Keyed = Pick<StoredAction, 'type' | 'audienceTag' | 'subject'>

/** What only one live action of an issuer may have; undefined for types of which there may be many. */
export function uniqueKeyOf(action: Keyed): string | undefined {
  const members = findActionType(action.type)?.uniqueBy
  return members && [action.type, ...members.map((member) => action[member] ?? '')].join(' ')
}

/** Which of two actions with the same key stands: the one signed later; between equals the same one everywhere. */
export function isNewer(
  action: Pick<StoredAction, 'issuedAt' | 'actionId'>,
  than: Pick<StoredAction, 'issuedAt' | 'actionId'>,
): boolean {
  return action.issuedAt === than.issuedAt ? action.actionId > than.actionId : action.issuedAt > than.issuedAt
}
