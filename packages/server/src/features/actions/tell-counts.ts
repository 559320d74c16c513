import { type ActionId, type ActionTokenPayload, parseActionId, serverActionTypes } from '@kith/protocol'
import { Compile } from 'typebox/compile'
import type { Tenant } from '#infra/caller/index.ts'
import type { Writer } from '#infra/db/index.ts'
import { invalid } from '#lib/failure.ts'
import type { ActionPorts } from './action-ports.ts'
import { findStoredAction, insertRecord } from './action-store.ts'
import { isForCommunity, listMembers } from './community-members.ts'
import { type ActionCounts, deleteToldCounts, findCounts, setCounts } from './count-store.ts'
import type { ReceivedAction } from './received-action.ts'
import { listRecipients } from './recipients.ts'
import { sendServerAction, signServerAction } from './server-action.ts'

const statType = serverActionTypes.STAT
const contentCheck = Compile(statType.content)

/** Does the work of `tellCountsJob`: the issuer's server has the last word on the counts of its actions. */
export async function tellCounts(ports: ActionPorts, tenant: Tenant, actionId: ActionId): Promise<void> {
  const reader = ports.db.reader(tenant.tenantId)
  const action = await findStoredAction(reader, actionId)
  const counts = action?.status === 'A' ? await findCounts(reader, actionId) : undefined
  if (!action || !counts || action.issuerTag !== tenant.idTag) return
  const recipients = await listRecipients(reader, tenant, action)
  if (recipients.length === 0) return
  const word = { type: statType.type, subject: actionId, content: { ...counts } } as const
  const signed = await signServerAction(ports, tenant, word)
  await ports.db.transact(tenant.tenantId, async (tx) => {
    await deleteToldCounts(tx, actionId)
    await sendServerAction(ports, tx, { tenant, signed, recipients })
  })
}

/** Is it no action, but what an issuer's server says of counts? */
export function isWordOnCounts({ type }: Pick<ActionTokenPayload, 'type'>): boolean {
  return type === statType.type
}

/** Takes the word of an issuer's server on the counts of its action. A community passes it on to its members. */
export async function receiveCounts(
  ports: Pick<ActionPorts, 'deliver' | 'onCounted'>,
  tx: Writer,
  { tenant, received }: { readonly tenant: Tenant; readonly received: ReceivedAction },
): Promise<'stored' | 'known'> {
  const { payload, token, issuerTag } = received
  const actionId = parseActionId(payload.subject ?? '')
  if (!actionId || !contentCheck.Check(payload.content)) throw invalid('/content', 'is not a set of counts')
  const action = await findStoredAction(tx, actionId)
  if (action?.issuerTag !== payload.issuerTag) return 'known'
  await setCounts(tx, actionId, { ...countsIn(payload.content), toldAt: payload.iat })
  ports.onCounted(tx, actionId)
  const members = isForCommunity(tenant, action) ? await listMembers(tx, action.visibility) : []
  if (members.length === 0) return 'stored'
  await deleteToldCounts(tx, actionId)
  const record = { actionId: received.actionId, issuerTag, token, issuedAt: payload.iat }
  await insertRecord(tx, { ...record, type: statType.type, subject: actionId })
  await ports.deliver(tx, { actionId: received.actionId, issuerTag, recipients: members })
  return 'stored'
}

function countsIn(content: Readonly<Record<string, unknown>>): Partial<ActionCounts> {
  const names = ['reactions', 'comments', 'views', 'shares'] as const
  return Object.fromEntries(
    names.flatMap((name) => (typeof content[name] === 'number' ? [[name, content[name]]] : [])),
  )
}
