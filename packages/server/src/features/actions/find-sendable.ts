import { type ActionId, findActionType, type IdTag, parseActionId, serverActionTypes } from '@kith/protocol'
import type { Reader } from '#infra/db/index.ts'
import { endingSubType, type StoredAction } from './action.ts'
import { findTombstone } from './action-lookup-store.ts'
import { findStoredAction, hasPredecessor } from './action-store.ts'

/** A token as it may leave now. */
interface Sendable {
  readonly token: string
  readonly issuerTag: IdTag
  /** The token that it announces, which leaves with it. */
  readonly beside?: string
  /** It ends something, which is told whatever else holds. */
  readonly isEnding: boolean
}

/** The token of what the tenant sends or passes on; undefined once it was deleted, has expired, or is about what was
 * deleted. To be asked again right before the token leaves. */
export async function findSendable(
  reader: Reader,
  actionId: ActionId,
  now: number,
): Promise<Sendable | undefined> {
  const action = await findStoredAction(reader, actionId)
  if (action?.token === undefined || (await isOver(reader, action, now))) return undefined
  const { token, issuerTag, subType } = action
  const type: string = action.type
  if (subType === endingSubType) return { token, issuerTag, isEnding: true }
  if (type !== serverActionTypes.ANNC.type) return { token, issuerTag, isEnding: false }
  const subject = parseActionId(action.subject ?? '')
  const announced = subject && (await findStoredAction(reader, subject))
  if (announced?.token === undefined) return undefined
  return { token, issuerTag, isEnding: false, beside: announced.token }
}

async function isOver(reader: Reader, action: StoredAction, now: number): Promise<boolean> {
  if (action.status === 'T') return action.subType !== endingSubType && (await isSubjectOver(reader, action))
  if (action.expiresAt !== undefined && action.expiresAt <= now) return true
  if (action.status === 'D') return isDeleted(reader, action)
  return action.status !== 'A' && action.status !== 'C'
}

/** Announcements hold the text of their subject, and counts are of nothing without it. */
async function isSubjectOver(reader: Reader, { subject }: StoredAction): Promise<boolean> {
  const subjectId = parseActionId(subject ?? '')
  const about = subjectId && (await findStoredAction(reader, subjectId))
  return about?.status !== 'A' && about?.status !== 'C'
}

/** An action that was replaced is sent all the same, for the deletion of its successor ends that one alone. For the same
 * reason a deleted one that took another's place still leaves, unless its end names the two between whom it was. What
 * is left are reactions, reposts and shares of a file, which have no text. */
async function isDeleted(reader: Reader, action: StoredAction): Promise<boolean> {
  if ((await findTombstone(reader, action)) === undefined) return false
  const { uniqueBy } = findActionType(action.type) ?? {}
  return !uniqueBy?.includes('subject') || !(await hasPredecessor(reader, action))
}
