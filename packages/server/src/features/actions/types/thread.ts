import type { ActionId, IdTag } from '@kith/protocol'
import {
  canRead,
  findEffectiveRelation,
  isSilencedHere,
  roleOf,
  viewerOf,
} from '#features/relations/index.ts'
import { type Tenant, visitor } from '#infra/caller/index.ts'
import type { Reader, Writer } from '#infra/db/index.ts'
import { Failure, invalid } from '#lib/failure.ts'
import type { StoredAction } from '../action.ts'
import { findStoredAction } from '../action-store.ts'
import { isForCommunity } from '../community/community-members.ts'
import { StrangerRefusal } from './strangers.ts'
import type { Completion, HookScene, PrepareScene } from './type-hooks.ts'

/** The root of an action's thread. Comments and reactions are never read by more than the root's readers. */

export function rootIdOf(action: StoredAction): ActionId {
  return action.withinId ?? action.rootId ?? action.actionId
}

/** The thread and the visibility of a new action under `parent`. */
export async function placeUnder(scene: PrepareScene, parent: StoredAction): Promise<Completion> {
  const { body, reader } = scene
  if (parent.status !== 'A' && parent.status !== 'C') throw new Failure('E-ACTION-NOTFOUND')
  const withinId = rootIdOf(parent)
  const root = withinId === parent.actionId ? parent : await findStoredAction(reader, withinId)
  const inherited = (root ?? parent).visibility
  // A token cannot say null: receivers would give the action the visibility of the root.
  if (body.visibility === null && inherited !== null)
    throw invalid('/visibility', 'null is not possible here: leave it out')
  return { withinId, visibility: body.visibility ?? inherited }
}

/** What a receiver holds of the thread that an action belongs to. */
interface HeldThread {
  readonly parent: StoredAction | undefined
  readonly root: StoredAction | undefined
  readonly rootId: ActionId
}

/** Finds the thread of a received action. At the root's issuer, and at the community that the root was posted to, the
 * action's issuer must be a reader of the thread; other tenants cannot tell. */
export async function findThread(
  scene: HookScene,
  { parentId, claimedRootId }: { readonly parentId: ActionId; readonly claimedRootId: ActionId | undefined },
): Promise<HeldThread> {
  const { ports, tx, tenant, action } = scene
  const parent = await findStoredAction(tx, parentId)
  const rootId = parent ? rootIdOf(parent) : (claimedRootId ?? parentId)
  if (claimedRootId !== undefined && claimedRootId !== rootId)
    throw invalid('/rootId', 'is not the parent’s root')
  const root = rootId === parentId ? parent : await findStoredAction(tx, rootId)
  if (root && (root.issuerTag === tenant.idTag || isForCommunity(tenant, root))) {
    // A stranger is not told whether there is something that it may not read.
    const refuse = (code: 'E-ACTION-NOTFOUND' | 'E-AUTH-FORBIDDEN') =>
      scene.isFromStranger ? new StrangerRefusal() : new Failure(code)
    if (!parent || parent.status === 'D' || root.status === 'D') throw refuse('E-ACTION-NOTFOUND')
    const isKnown = await isReader(tx, tenant, action.issuerTag, root)
    if (!isKnown && !(await isReadByMembers(ports, tx, tenant, root))) throw refuse('E-AUTH-FORBIDDEN')
  }
  return { parent, root, rootId }
}

/** Only a community knows its members, so a tenant cannot tell who reads what it posted there. Everybody who knows the
 * action's id counts as a reader. */
async function isReadByMembers(
  ports: HookScene['ports'],
  tx: Writer,
  tenant: Tenant,
  { issuerTag, audienceTag, visibility }: StoredAction,
): Promise<boolean> {
  if (issuerTag !== tenant.idTag || audienceTag === undefined || visibility === null) return false
  return (await ports.findKnownType(tx, audienceTag)) === 'community'
}

async function isReader(reader: Reader, tenant: Tenant, idTag: IdTag, root: StoredAction): Promise<boolean> {
  const relation = await findEffectiveRelation(reader, idTag)
  const role = relation ? roleOf(relation) : 'public'
  const caller = visitor(idTag, role)
  return canRead(viewerOf(tenant, caller, { relation }), {
    ...root,
    isIssuerBlocked: false,
    isIssuerSilenced: root.issuerTag !== tenant.idTag && (await isSilencedHere(reader, root.issuerTag)),
  })
}
