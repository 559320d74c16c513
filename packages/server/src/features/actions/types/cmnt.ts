import type { ActionId, IdTag } from '@kith/protocol'
import { findEffectiveRelation } from '#features/relations/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import type { Reader } from '#infra/db/index.ts'
import { invalid } from '#lib/failure.ts'
import type { StoredAction } from '../action.ts'
import { findStoredAction } from '../action-store.ts'
import { joined, nobody } from '../audience.ts'
import { isForCommunity, membersWhoRead } from '../community/community-members.ts'
import { findAudience } from '../compose/recipients.ts'
import { doesMention } from '../mentions.ts'
import { assertOnReadable } from './strangers.ts'
import { findThread, placeUnder } from './thread.ts'
import type { TypeHooks } from './type-hooks.ts'

/** Comments. The root's issuer, or the community that the root was posted to, passes them on to the readers of the
 * thread: no other server knows who these are. */
export const cmnt: TypeHooks = {
  type: 'CMNT',
  async prepare(scene) {
    const { parentId = '', rootId } = scene.body
    const parent = await scene.getShown(parentId)
    const place = await placeUnder(scene, parent)
    if (rootId !== undefined && rootId !== place.withinId)
      throw invalid('/rootId', 'is not the parent’s root')
    return { ...place, ...(place.withinId ? { rootId: place.withinId } : {}) }
  },
  async admit(scene) {
    const { action, tenant } = scene
    const { parentId = action.actionId, rootId: claimedRootId } = action
    const { parent, root, rootId } = await findThread(scene, { parentId, claimedRootId })
    await assertOnReadable(scene, root ?? parent)
    return {
      rootId,
      withinId: rootId,
      visibility: action.visibility ?? root?.visibility ?? null,
      isMarked: parent?.issuerTag === tenant.idTag || doesMention(action.content, tenant.idTag),
    }
  },
  async findRelays(reader, tenant, { parentId, rootId }) {
    const root = rootId && (await findStoredAction(reader, rootId))
    if (!root) return nobody
    if (isForCommunity(tenant, root)) return membersWhoRead(root.visibility)
    if (root.issuerTag !== tenant.idTag) return nobody
    const readers = await findAudience(reader, tenant, root)
    const answered = await findAnswered(reader, tenant, { parentId, root })
    return answered === undefined ? readers : joined(readers, { named: [answered] })
  },
  async findOthers(reader, tenant, { parentId, rootId }) {
    const parent = parentId && (await findStoredAction(reader, parentId))
    const root = rootId && rootId !== parentId ? await findStoredAction(reader, rootId) : parent
    const readers =
      root && root.issuerTag === tenant.idTag ? await findAudience(reader, tenant, root) : nobody
    const named = [parent, root].flatMap((it) =>
      it ? [it.issuerTag, ...(it.audienceTag ? [it.audienceTag] : []), ...it.audience] : [],
    )
    return joined({ named }, readers)
  },
}

/** The parent's issuer receives an answer even if it is no follower, as long as the root is readable to it (P or V) and
 * it is not blocked. */
async function findAnswered(
  reader: Reader,
  tenant: Tenant,
  { parentId, root }: { readonly parentId: ActionId | undefined; readonly root: StoredAction },
): Promise<IdTag | undefined> {
  const parent = parentId && (await findStoredAction(reader, parentId))
  const isOpen = root.visibility === 'P' || root.visibility === 'V'
  if (!parent || !isOpen || parent.issuerTag === tenant.idTag) return undefined
  return (await findEffectiveRelation(reader, parent.issuerTag))?.isBlocked ? undefined : parent.issuerTag
}
