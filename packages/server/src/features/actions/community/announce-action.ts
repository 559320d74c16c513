import type { ActionId } from '@kith/protocol'
import { findRelation } from '#features/relations/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import type { Reader, Writer } from '#infra/db/index.ts'
import type { StoredAction } from '../action.ts'
import { hashOfToken } from '../action-id.ts'
import type { QueueDeps, TellDeps } from '../action-ports.ts'
import { findStoredAction } from '../action-store.ts'
import { type Audience, nobody } from '../audience.ts'
import { sendServerAction, signServerAction } from '../compose/server-action.ts'
import { announceLaterJob } from '../job-kinds.ts'
import { hooksOf } from '../types/index.ts'
import { isForCommunity, membersWhoRead } from './community-members.ts'
import { decidesOn } from './thread-authority.ts'

/** Queues what a member gave to the community of `tx` for the others: that has to be signed, so it comes later. */
export async function announceLater(
  ports: QueueDeps,
  tx: Writer,
  { tenant, action }: { readonly tenant: Tenant; readonly action: StoredAction },
): Promise<void> {
  if (!isForCommunity(tenant, action) || action.visibility === null) return
  await ports.jobs.enqueue(tx, announceLaterJob, { actionId: action.actionId })
}

/** The same for a comment, where the tenant of `tx` decides what is said in its thread. Also one that nobody is to be told
 * of now: the history has it from the announcement. */
export async function announceComment(
  ports: QueueDeps,
  tx: Writer,
  { tenant, action }: { readonly tenant: Tenant; readonly action: StoredAction },
): Promise<void> {
  const root = action.rootId && (await findStoredAction(tx, action.rootId))
  if (root && decidesOn(tenant, root))
    await ports.jobs.enqueue(tx, announceLaterJob, { actionId: action.actionId })
}

/** Does the work of `announceLaterJob`: tells the members what one of them gave to the community, and the readers of a
 * thread what is said in it. Whom a community mutes is read there by who asks for them, and passed on to nobody. */
export async function announceAction(ports: TellDeps, tenant: Tenant, actionId: ActionId): Promise<void> {
  const reader = ports.db.reader(tenant.tenantId)
  const action = await findStoredAction(reader, actionId)
  if (action?.status !== 'A' || action.token === undefined) return
  if (action.type !== 'CMNT' && !isForCommunity(tenant, action)) return
  if (tenant.type === 'community' && (await findRelation(reader, action.issuerTag))?.isMuted) return
  const word = { type: 'ANNC', subject: actionId, content: { hash: hashOfToken(action.token) } } as const
  const signed = await signServerAction(ports, tenant, word)
  await ports.db.transact(tenant.tenantId, async (tx) => {
    if ((await findStoredAction(tx, actionId))?.status !== 'A') return
    const audience = await findReaders(tx, tenant, action)
    await sendServerAction(ports, tx, { tenant, signed, audience, leftOut: [action.issuerTag] })
  })
}

async function findReaders(reader: Reader, tenant: Tenant, action: StoredAction): Promise<Audience> {
  if (isForCommunity(tenant, action) && action.type !== 'CMNT') return membersWhoRead(action.visibility)
  return (await hooksOf(action.type).findRelays?.(reader, tenant, action)) ?? nobody
}
