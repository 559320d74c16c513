import { type ActionId, type ActionTokenPayload, serverActionTypes } from '@kith/protocol'
import type { Tenant } from '#infra/caller/index.ts'
import type { Writer } from '#infra/db/index.ts'
import { nowSecs } from '#lib/clock.ts'
import type { CountDeps, TellDeps } from '../action-ports.ts'
import { findStoredAction, insertRecord } from '../action-store.ts'
import { countAudience } from '../audience.ts'
import { isForCommunity, membersWhoRead } from '../community/community-members.ts'
import { parseMembers } from '../compose/parse-action.ts'
import { findAudience } from '../compose/recipients.ts'
import { sendServerAction, signServerAction } from '../compose/server-action.ts'
import { passOnCountsJob } from '../job-kinds.ts'
import type { ReceivedAction } from '../receive/received-action.ts'
import { tellCountsAt } from './count-actions.ts'
import { type ActionCounts, deleteToldCounts, findCounts, findToldCounts, setCounts } from './count-store.ts'
import { mostReceiversCounted, secsBetweenCounts } from './counts-interval.ts'

const statType = serverActionTypes.STAT

/** Does the work of `tellCountsJob`: sends the counts of the tenant's action to its receivers; the more receivers, the
 * more rarely. */
export async function tellCounts(ports: TellDeps, tenant: Tenant, actionId: ActionId): Promise<void> {
  const reader = ports.db.reader(tenant.tenantId)
  const action = await findStoredAction(reader, actionId)
  const counts = action?.status === 'A' ? await findCounts(reader, actionId) : undefined
  if (!action || !counts || action.issuerTag !== tenant.idTag) return
  const audience = await findAudience(reader, tenant, action)
  const receivers = await countAudience(reader, audience, mostReceiversCounted)
  if (receivers === 0) return
  const told = await findToldCounts(reader, actionId)
  const nextAt = told?.toldAt === undefined ? 0 : told.toldAt + secsBetweenCounts(receivers)
  if (nextAt > nowSecs(ports.clock))
    return await ports.db.transact(tenant.tenantId, (tx) => tellCountsAt(ports, tx, { actionId, at: nextAt }))
  const word = { type: statType.type, subject: actionId, content: { ...counts } } as const
  const signed = await signServerAction(ports, tenant, word)
  await ports.db.transact(tenant.tenantId, async (tx) => {
    await deleteToldCounts(tx, actionId)
    await sendServerAction(ports, tx, { tenant, signed, audience, toldAt: signed.issuedAt })
  })
}

/** Is this a STAT token of an issuer's server, and no action? */
export function isStat({ type }: Pick<ActionTokenPayload, 'type'>): boolean {
  return type === statType.type
}

/** Stores the counts that an issuer's server tells of its action. A community passes them on to its members. */
export async function receiveCounts(
  ports: CountDeps,
  tx: Writer,
  { tenant, received }: { readonly tenant: Tenant; readonly received: ReceivedAction },
): Promise<'stored' | 'known'> {
  const { payload, token, issuerTag } = received
  const { subject, content = {} } = parseMembers(statType, payload)
  const actionId = subject as ActionId
  const action = await findStoredAction(tx, actionId)
  if (action?.issuerTag !== payload.issuerTag) return 'known'
  await setCounts(tx, actionId, { ...countsIn(content), toldAt: payload.iat })
  await ports.emit(tx, { kind: 'action.counted', actionId: actionId })
  if (!isForCommunity(tenant, action) || action.visibility === null) return 'stored'
  await deleteToldCounts(tx, actionId)
  const record = { actionId: received.actionId, issuerTag, token, issuedAt: payload.iat }
  await insertRecord(tx, { ...record, type: statType.type, subject: actionId })
  await ports.jobs.enqueue(tx, passOnCountsJob, { actionId }, { dedupKey: actionId })
  return 'stored'
}

/** Does the work of `passOnCountsJob`: sends a community's members the last counts that the issuer's server told of an
 * action. The job that it queues delays the next counts, and ends when there are none. */
export async function passOnCounts(
  ports: TellDeps,
  tenant: Tenant,
  { actionId, passedId }: { readonly actionId: ActionId; readonly passedId?: string | undefined },
): Promise<void> {
  const reader = ports.db.reader(tenant.tenantId)
  const action = await findStoredAction(reader, actionId)
  const told = await findToldCounts(reader, actionId)
  if (action?.status !== 'A' || !told || told.actionId === passedId) return
  const audience = membersWhoRead(action.visibility)
  const receivers = await countAudience(reader, audience, mostReceiversCounted)
  const { issuerTag } = told
  const runAtMs = ports.clock.now() + secsBetweenCounts(receivers) * 1000
  await ports.db.transact(tenant.tenantId, async (tx) => {
    await ports.deliver(tx, { actionId: told.actionId, issuerTag, audience, countsOf: actionId })
    const payload = { actionId, passedId: told.actionId }
    await ports.jobs.enqueue(tx, passOnCountsJob, payload, { dedupKey: actionId, runAtMs })
  })
}

function countsIn(content: Readonly<Record<string, unknown>>): Partial<ActionCounts> {
  const names = ['reactions', 'comments', 'views', 'shares'] as const
  return Object.fromEntries(
    names.flatMap((name) => (typeof content[name] === 'number' ? [[name, content[name]]] : [])),
  )
}
