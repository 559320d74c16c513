import { type ActionId, parseActionId } from '@kith/protocol'
import { Failure } from '#lib/failure.ts'
import { findStoredAction } from '../action-store.ts'
import { assertOnReadable } from './strangers.ts'
import { findThread, placeUnder } from './thread.ts'
import type { TypeHooks } from './type-hooks.ts'

/** Reactions are counted at the action they are about, and only its issuer receives them. */
export const react: TypeHooks = {
  type: 'REACT',
  async prepare(scene) {
    const { subject, parentId } = scene.body
    const target = await scene.getShown(subject ?? parentId ?? '')
    return { ...(await placeUnder(scene, target)), subject: target.actionId, ...noParent }
  },
  async admit(scene) {
    const { action } = scene
    const parentId = parseActionId(action.subject ?? action.parentId ?? '')
    if (!parentId) throw new Failure('E-ACTION-NOTFOUND')
    const { parent, root, rootId } = await findThread(scene, { parentId, claimedRootId: undefined })
    await assertOnReadable(scene, parent && (root ?? parent))
    return {
      withinId: rootId,
      visibility: action.visibility ?? root?.visibility ?? null,
      isMarked: parent?.issuerTag === scene.tenant.idTag,
    }
  },
  async findOthers(reader, _, { subject }) {
    const target = await findStoredAction(reader, subject as ActionId)
    return { named: target ? [target.issuerTag] : [] }
  },
}

const noParent = { parentId: undefined, rootId: undefined }
