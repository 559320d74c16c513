import { type ActionId, type IdTag, parseActionId } from '@kith/protocol'
import type { Tenant } from '#infra/caller/index.ts'
import type { Reader, Writer } from '#infra/db/index.ts'
import type { StoredAction } from '../action.ts'
import type { KnownTypeDeps } from '../action-ports.ts'
import { findStoredAction } from '../action-store.ts'
import { rootIdOf } from '../types/thread.ts'
import { isForCommunity } from './community-members.ts'

// Whose word counts on what is said in a thread: its root's issuer, and the community that the root was given to. Anybody
// else takes comments from these alone, because only they know whom they have blocked or banned.

type Placed = Pick<StoredAction, 'actionId' | 'parentId' | 'rootId'>

/** Does the tenant decide what is said under this root? */
export function decidesOn(tenant: Tenant, root: StoredAction): boolean {
  return root.issuerTag === tenant.idTag || isForCommunity(tenant, root)
}

/** The root of a comment, as far as it is held here: that of the parent, whatever the comment says. */
export async function findRoot(
  reader: Reader,
  { actionId, parentId, rootId }: Placed,
): Promise<StoredAction | undefined> {
  const parent = parentId && (await findStoredAction(reader, parentId))
  const held = parent ? rootIdOf(parent) : (rootId ?? parentId ?? actionId)
  return held === parentId ? parent : await findStoredAction(reader, held as ActionId)
}

/** Is this comment one that its issuer's server may hand to the tenant by itself? In a thread that is not held here it is
 * a word to the tenant, until the root comes. */
export async function mayReceiveDirectly(
  tx: Writer,
  tenant: Tenant,
  comment: StoredAction,
): Promise<boolean> {
  const root = await findRoot(tx, comment)
  return !root || decidesOn(tenant, root) || root.issuerTag === comment.issuerTag
}

/** May this identity announce to the tenant what others say under the root? */
export async function mayAnnounceTo(
  ports: KnownTypeDeps,
  tx: Writer,
  scene: { readonly tenant: Tenant; readonly root: StoredAction; readonly announcerTag: IdTag },
): Promise<boolean> {
  const { tenant, root, announcerTag } = scene
  // Who decides hears the comment itself, and judges by itself.
  if (decidesOn(tenant, root)) return false
  if (root.issuerTag === announcerTag) return true
  const isGiven = root.audienceTag === announcerTag || root.audience.includes(announcerTag)
  return isGiven && (await ports.findKnownType(tx, announcerTag)) !== 'person'
}

/** Where a received comment says that it stands. */
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
