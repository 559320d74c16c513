import type { Reader } from '#infra/db/index.ts'
import type { StoredAction } from '../action.ts'
import { hashOfToken } from '../action-id.ts'
import { findStoredAction } from '../action-store.ts'
import { type Endorsing, targetIdOf } from './target.ts'

/** The hash of what the tenant holds of the action that this one says something about. */
export async function findTargetHash(reader: Reader, action: Endorsing): Promise<string | undefined> {
  const targetId = targetIdOf(action)
  const target = targetId && (await findStoredAction(reader, targetId))
  return target?.token === undefined ? undefined : hashOfToken(target.token)
}

/** Compares an action with what the tenant holds of what it is about. Where there is nothing, it is compared when that
 * arrives (`compareEndorsements`). */
export async function compareTarget(
  reader: Reader,
  action: StoredAction,
): Promise<Pick<StoredAction, 'targetHash' | 'isMismatched'>> {
  if (action.targetHash === undefined) return {}
  const held = await findTargetHash(reader, action)
  return held === undefined ? {} : { targetHash: undefined, isMismatched: held !== action.targetHash }
}
