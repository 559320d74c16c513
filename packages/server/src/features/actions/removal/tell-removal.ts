import type { Tenant } from '#infra/caller/index.ts'
import type { Reader, Writer } from '#infra/db/index.ts'
import { endingSubType, type StoredAction } from '../action.ts'
import type { SendDeps, TellDeps } from '../action-ports.ts'
import { findStoredAction } from '../action-store.ts'
import { type Audience, joined, nobody } from '../audience.ts'
import { formerMembers, isForCommunity } from '../community/community-members.ts'
import { findPossibleHolders } from '../compose/recipients.ts'
import { type SignedServerAction, sendServerAction, signServerAction } from '../compose/server-action.ts'

/** Types that a tenant passes on to others, announced or as they came. */
const passedOn: ReadonlySet<string> = new Set(['POST', 'SHRE', 'CMNT'])

/** The signed announcement that the tenant removes an action it has passed on; undefined when it has not passed the
 * action on. Signs, so never in a transaction. */
export async function signRemoval(
  ports: TellDeps,
  tenant: Tenant,
  action: StoredAction,
): Promise<SignedServerAction | undefined> {
  if (!(await wasPassedOn(ports.db.reader(tenant.tenantId), tenant, action))) return undefined
  const word = { type: 'ANNC', subType: endingSubType, subject: action.actionId } as const
  return signServerAction(ports, tenant, word)
}

/** Queues that announcement, in the transaction of the removal. */
export async function tellRemoval(
  ports: SendDeps,
  tx: Writer,
  {
    tenant,
    action,
    word,
  }: { readonly tenant: Tenant; readonly action: StoredAction; readonly word: SignedServerAction },
): Promise<void> {
  const audience = await findHolders(tx, tenant, action)
  await sendServerAction(ports, tx, { tenant, signed: word, audience, leftOut: [action.issuerTag] })
}

/** A community announces what was posted to it; the root's issuer, and the community that the root was posted to,
 * announce the comments under it. */
async function wasPassedOn(reader: Reader, tenant: Tenant, action: StoredAction): Promise<boolean> {
  if (!passedOn.has(action.type)) return false
  if (isForCommunity(tenant, action)) return true
  const root = await findRoot(reader, action)
  if (!root) return false
  return (action.type === 'CMNT' && root.issuerTag === tenant.idTag) || isForCommunity(tenant, root)
}

/** Everybody who may hold the action because of the tenant: members and former members, and the readers of the tenant's
 * own thread. */
async function findHolders(tx: Writer, tenant: Tenant, action: StoredAction): Promise<Audience> {
  const members = tenant.type === 'community' ? formerMembers : nobody
  const root = await findRoot(tx, action)
  if (root?.issuerTag !== tenant.idTag) return members
  const parent = action.parentId && (await findStoredAction(tx, action.parentId))
  const readers = await findPossibleHolders(tx, tenant, root)
  return joined(joined(readers, members), { named: parent ? [parent.issuerTag] : [] })
}

async function findRoot(reader: Reader, { withinId }: StoredAction): Promise<StoredAction | undefined> {
  return withinId === undefined ? undefined : findStoredAction(reader, withinId)
}
