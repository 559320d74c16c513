import { type ActionId, findActionType, type IdTag, parseActionId, serverActionTypes } from '@kith/protocol'
import type { Reader } from '#infra/db/index.ts'
import { endingSubType, type StoredAction } from './action.ts'
import { findTombstone } from './action-lookup-store.ts'
import { findStoredAction, hasPredecessor } from './action-store.ts'

/** A token that may be sent now. */
interface Sendable {
  readonly token: string
  readonly issuerTag: IdTag
  /** The token that this one announces, sent together with it. */
  readonly beside?: string
  readonly besideIssuer?: IdTag
  /** An ending is sent even while the issuer is suspended. */
  readonly isEnding: boolean
}

/** The token of an action that the tenant sends or passes on; undefined once that is deleted or expired, or is about a
 * deleted action. Ask again immediately before sending. */
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
  return { token, issuerTag, isEnding: false, beside: announced.token, besideIssuer: announced.issuerTag }
}

async function isOver(reader: Reader, action: StoredAction, now: number): Promise<boolean> {
  if (action.status === 'T') return action.subType !== endingSubType && (await isSubjectOver(reader, action))
  if (action.expiresAt !== undefined && action.expiresAt <= now) return true
  if (action.status === 'D') return isDeleted(reader, action)
  return action.status !== 'A' && action.status !== 'C'
}

/** An announcement is sent with the token of its subject, and counts are about their subject: neither is sent without
 * it. */
async function isSubjectOver(reader: Reader, { subject }: StoredAction): Promise<boolean> {
  const subjectId = parseActionId(subject ?? '')
  const about = subjectId && (await findStoredAction(reader, subjectId))
  return about?.status !== 'A' && about?.status !== 'C'
}

/** An action that was replaced is sent all the same, because deleting its successor ends that successor alone. */
async function isDeleted(reader: Reader, action: StoredAction): Promise<boolean> {
  return (await findTombstone(reader, action)) !== undefined && !(await leavesDeleted(reader, action))
}

/** A deleted action that had replaced another one is sent, for the same reason, unless its ending names both parties. That
 * leaves reactions, reposts and file shares. */
export async function leavesDeleted(reader: Reader, action: StoredAction): Promise<boolean> {
  const { uniqueBy } = findActionType(action.type) ?? {}
  return uniqueBy?.includes('subject') === true && (await hasPredecessor(reader, action))
}
