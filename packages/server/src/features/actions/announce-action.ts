import { type ActionId, maxActionTokenLength } from '@kith/protocol'
import { findRelation } from '#features/relations/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import type { Writer } from '#infra/db/index.ts'
import type { StoredAction } from './action.ts'
import type { ActionPorts } from './action-ports.ts'
import { findStoredAction } from './action-store.ts'
import { isForCommunity, listMembers } from './community-members.ts'
import { announceLaterJob } from './job-kinds.ts'
import { sendServerAction, signServerAction } from './server-action.ts'

/** Queues what a member gave to the community of `tx` for the others: that has to be signed, so it comes later. */
export async function announceLater(
  ports: Pick<ActionPorts, 'jobs'>,
  tx: Writer,
  { tenant, action }: { readonly tenant: Tenant; readonly action: StoredAction },
): Promise<void> {
  if (!isForCommunity(tenant, action) || action.visibility === null) return
  await ports.jobs.enqueue(tx, announceLaterJob, { actionId: action.actionId })
}

/** Does the work of `announceLaterJob`: tells the members what one of them gave to the community. Whom it mutes is read
 * there by who asks for them, and passed on to nobody. */
export async function announceAction(ports: ActionPorts, tenant: Tenant, actionId: ActionId): Promise<void> {
  const reader = ports.db.reader(tenant.tenantId)
  const action = await findStoredAction(reader, actionId)
  if (action?.status !== 'A' || action.token === undefined || !isForCommunity(tenant, action)) return
  if ((await findRelation(reader, action.issuerTag))?.isMuted) return
  const word = { type: 'ANNC', subject: actionId, content: { token: action.token } } as const
  const signed = await signServerAction(ports, tenant, word)
  // What is too long to be wrapped once more is read at the community alone.
  if (signed.token.length > maxActionTokenLength) return
  await ports.db.transact(tenant.tenantId, async (tx) => {
    if ((await findStoredAction(tx, actionId))?.status !== 'A') return
    const recipients = (await listMembers(tx, action.visibility)).filter((tag) => tag !== action.issuerTag)
    await sendServerAction(ports, tx, { tenant, signed, recipients })
  })
}
