import { type ActionId, type IdTag, parseActionId } from '@kith/protocol'
import type { Tenant } from '#infra/caller/index.ts'
import type { Reader, Writer } from '#infra/db/index.ts'
import type { StoredAction } from '../action.ts'
import type { KnownTypeDeps } from '../action-ports.ts'
import { findStoredAction } from '../action-store.ts'
import { rootIdOf } from '../types/thread.ts'
import { isForCommunity } from './community-members.ts'

// Two identities decide which comments a thread has: the issuer of its root, and the community that the root was posted
// to. Everybody else accepts comments of third parties from these two only, because only they know whom they have
// blocked or banned.

type Placed = Pick<StoredAction, 'actionId' | 'parentId' | 'rootId'>

/** Does the tenant decide which comments this root has? */
export function decidesOn(tenant: Tenant, root: StoredAction): boolean {
  return root.issuerTag === tenant.idTag || isForCommunity(tenant, root)
}

/** The root of a comment, as far as it is held here. The parent's root counts, whatever root the comment names. */
export async function findRoot(
  reader: Reader,
  { actionId, parentId, rootId }: Placed,
): Promise<StoredAction | undefined> {
  const parent = parentId && (await findStoredAction(reader, parentId))
  const held = parent ? rootIdOf(parent) : (rootId ?? parentId ?? actionId)
  return held === parentId ? parent : await findStoredAction(reader, held as ActionId)
}

/** May this comment's issuer deliver it to the tenant without an announcement? If its root is not held here it may,
 * until the root arrives (`dropUnannounced`). */
export async function mayReceiveDirectly(
  tx: Writer,
  tenant: Tenant,
  comment: StoredAction,
): Promise<boolean> {
  const root = await findRoot(tx, comment)
  return !root || decidesOn(tenant, root) || root.issuerTag === comment.issuerTag
}

/** May this identity announce others' comments under the root to the tenant? */
export async function mayAnnounceTo(
  ports: KnownTypeDeps,
  tx: Writer,
  scene: { readonly tenant: Tenant; readonly root: StoredAction; readonly announcerTag: IdTag },
): Promise<boolean> {
  const { tenant, root, announcerTag } = scene
  // A tenant that decides itself receives comments from their issuers and checks them.
  if (decidesOn(tenant, root)) return false
  if (root.issuerTag === announcerTag) return true
  const isGiven = root.audienceTag === announcerTag || root.audience.includes(announcerTag)
  return isGiven && (await ports.findKnownType(tx, announcerTag)) !== 'person'
}

/** The parent and the root that a received comment names. */
export function placeOf(payload: {
  readonly actionId: string
  readonly parentId?: string
  readonly rootId?: string
}): Placed {
  return {
    actionId: payload.actionId as ActionId,
    parentId: parseActionId(payload.parentId ?? ''),
    rootId: parseActionId(payload.rootId ?? ''),
  }
}
