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

/** Queues the announcement of an action that was posted to the community of `tx`. A job does it, because an
 * announcement must be signed. */
export async function announceLater(
  ports: QueueDeps,
  tx: Writer,
  { tenant, action }: { readonly tenant: Tenant; readonly action: StoredAction },
): Promise<void> {
  if (!isForCommunity(tenant, action) || action.visibility === null) return
  await ports.jobs.enqueue(tx, announceLaterJob, { actionId: action.actionId })
}

/** Queues the announcement of a comment, where the tenant of `tx` decides which comments the thread has. Also when the
 * comment has no receivers now: histories are served from the announcement. */
export async function announceComment(
  ports: QueueDeps,
  tx: Writer,
  { tenant, action }: { readonly tenant: Tenant; readonly action: StoredAction },
): Promise<void> {
  const root = action.rootId && (await findStoredAction(tx, action.rootId))
  if (root && decidesOn(tenant, root))
    await ports.jobs.enqueue(tx, announceLaterJob, { actionId: action.actionId })
}

/** Does the work of `announceLaterJob`: announces to members what was posted to the community, and to the readers of a
 * thread the comments in it. A community does not announce actions of an identity that it mutes; they can still be
 * read there. */
export async function announceAction(ports: TellDeps, tenant: Tenant, actionId: ActionId): Promise<void> {
  const reader = ports.db.reader(tenant.tenantId)
  const action = await findStoredAction(reader, actionId)
  if (action?.status !== 'A' || action.token === undefined || action.isUnverified) return
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
