import type { ActionId, IdTag } from '@kith/protocol'
import { canRead, findEffectiveRelation, roleOf, viewerOf } from '#features/relations/index.ts'
import { type Tenant, visitor } from '#infra/caller/index.ts'
import type { Reader, Writer } from '#infra/db/index.ts'
import { Failure, invalid } from '#lib/failure.ts'
import type { StoredAction } from '../action.ts'
import { findStoredAction } from '../action-store.ts'
import { isForCommunity } from '../community/community-members.ts'
import type { Completion, HookScene, PrepareScene } from './type-hooks.ts'

/** Comments, answers and reactions hang on another action, and are never read by more than its root is. */

export function rootIdOf(action: StoredAction): ActionId {
  return action.withinId ?? action.rootId ?? action.actionId
}

/** The place of a new action under `parent`. */
export async function placeUnder(scene: PrepareScene, parent: StoredAction): Promise<Completion> {
  const { body, reader } = scene
  if (parent.status !== 'A' && parent.status !== 'C') throw new Failure('E-ACTION-NOTFOUND')
  const withinId = rootIdOf(parent)
  const root = withinId === parent.actionId ? parent : await findStoredAction(reader, withinId)
  const inherited = (root ?? parent).visibility
  // The token could not say so: receivers would take it for the root's.
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

/** Looks up where a received action hangs. Its issuer must be a reader of the thread, as far as that can be told here:
 * at the root's issuer and at the community that was given the root. */
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
    if (!parent || parent.status === 'D' || root.status === 'D') throw new Failure('E-ACTION-NOTFOUND')
    const isKnown = await isReader(tx, tenant, action.issuerTag, root)
    if (!isKnown && !(await isReadByMembers(ports, tx, tenant, root))) throw new Failure('E-AUTH-FORBIDDEN')
  }
  return { parent, root, rootId }
}

/** Who reads what the tenant gave to a community only that knows, and it passes on what they say: their knowing the action
 * has to do here. */
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
  return canRead(viewerOf(tenant, caller, { relation }), { ...root, isIssuerBlocked: false })
}
