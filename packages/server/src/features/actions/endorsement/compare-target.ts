import type { ActionId } from '@kith/protocol'
import type { Reader } from '#infra/db/index.ts'
import type { StoredAction } from '../action.ts'
import { hashOfToken } from '../action-id.ts'
import { findStoredAction } from '../action-store.ts'
import { type Endorsing, hasInheritedReaders, rootTargetIdOf, targetIdOf } from './target.ts'
import { hashesOfToken } from './token-hashes.ts'

/** The hashes of what the tenant holds of the action that this one says something about, and of the root of its
 * thread. `known`: what has been read of them already. */
export async function findHashes(
  reader: Reader,
  action: Endorsing,
  known: readonly StoredAction[],
): Promise<Pick<StoredAction, 'targetHash' | 'rootHash'>> {
  const tokenOf = async (actionId: ActionId | undefined) => {
    const read = known.find((one) => one.actionId === actionId)
    return read ? read.token : await findToken(reader, actionId)
  }
  const [target, root] = [await tokenOf(targetIdOf(action)), await tokenOf(rootTargetIdOf(action))]
  return { targetHash: target && hashOfToken(target), rootHash: root && hashOfToken(root) }
}

/** Compares an action with what the tenant holds of what it is about. Where there is nothing, it is compared when that
 * arrives (`compareEndorsements`). A root is there before the comments of others in its thread are taken. */
export async function compareTarget<Action extends StoredAction>(
  reader: Reader,
  action: Action,
): Promise<Action> {
  const { targetHash, rootHash } = action
  if (targetHash === undefined && rootHash === undefined) return action
  const target = targetHash && (await findToken(reader, targetIdOf(action)))
  const root = rootHash && (await findToken(reader, rootTargetIdOf(action)))
  const isMismatched = isOther(target, targetHash) || isOther(root, rootHash)
  return {
    ...action,
    isMismatched,
    rootHash: undefined,
    targetHash: target || isMismatched ? undefined : targetHash,
  }
}

/** A mismatched action does not inherit readers from its target: the tenant and its issuer alone read it, and it is
 * no notification. A message keeps its own readers. */
export function keptApart(action: StoredAction): StoredAction {
  if (!action.isMismatched || action.type === 'MSG') return action
  return { ...action, isMarked: false, ...(hasInheritedReaders(action) ? { visibility: 'C' } : {}) }
}

async function findToken(reader: Reader, actionId: ActionId | undefined): Promise<string | undefined> {
  return actionId && (await findStoredAction(reader, actionId))?.token
}

function isOther(held: string | undefined, hash: string | undefined): boolean {
  return held !== undefined && hash !== undefined && !hashesOfToken(held).includes(hash)
}
