import { type ActionId, type ActionTokenPayload, parseActionId, serverActionTypes } from '@kith/protocol'
import { Compile } from 'typebox/compile'
import type { Tenant } from '#infra/caller/index.ts'
import type { Writer } from '#infra/db/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { invalid } from '#lib/failure.ts'
import { newNonce, ownActionId } from './action-id.ts'
import type { ActionPorts } from './action-ports.ts'
import { findStoredAction, insertRecord } from './action-store.ts'
import { type ActionCounts, deleteToldCounts, findCounts, setCounts } from './count-store.ts'
import { listRecipients } from './recipients.ts'

const statType = serverActionTypes.STAT
const contentCheck = Compile(statType.content)
const lifetimeSecs = 7 * 24 * 60 * 60

/** Does the work of `tellCountsJob`: the issuer's server has the last word on the counts of its actions. */
export async function tellCounts(ports: ActionPorts, tenant: Tenant, actionId: ActionId): Promise<void> {
  const reader = ports.db.reader(tenant.tenantId)
  const action = await findStoredAction(reader, actionId)
  const counts = action?.status === 'A' ? await findCounts(reader, actionId) : undefined
  if (!action || !counts || action.issuerTag !== tenant.idTag) return
  const recipients = await listRecipients(reader, tenant, action)
  if (recipients.length === 0) return
  const now = nowSecs(ports.clock)
  const nonce = newNonce()
  const payload: ActionTokenPayload = {
    actionId: ownActionId(tenant.idTag, nonce),
    type: statType.type,
    issuerTag: tenant.idTag,
    subject: actionId,
    content: { ...counts },
    nonce,
    createdAt: now,
    iat: now,
    exp: now + lifetimeSecs,
  }
  const token = await ports.keys.sign(tenant.tenantId, payload)
  const told = payload.actionId as ActionId
  await ports.db.transact(tenant.tenantId, async (tx) => {
    await deleteToldCounts(tx, actionId)
    await insertRecord(tx, {
      actionId: told,
      issuerTag: tenant.idTag,
      type: statType.type,
      subject: actionId,
      issuedAt: now,
      token,
    })
    await ports.deliver(tx, { actionId: told, issuerTag: tenant.idTag, recipients })
  })
}

/** Is it no action, but what an issuer's server says of counts? */
export function isWordOnCounts({ type }: Pick<ActionTokenPayload, 'type'>): boolean {
  return type === statType.type
}

/** Takes the word of an issuer's server on the counts of its action. */
export async function receiveCounts(
  tx: Writer,
  { payload }: { readonly payload: ActionTokenPayload },
): Promise<'stored' | 'known'> {
  const actionId = parseActionId(payload.subject ?? '')
  if (!actionId || !contentCheck.Check(payload.content)) throw invalid('/content', 'is not a set of counts')
  const action = await findStoredAction(tx, actionId)
  if (action?.issuerTag !== payload.issuerTag) return 'known'
  await setCounts(tx, actionId, { ...countsIn(payload.content), toldAt: payload.iat })
  return 'stored'
}

function countsIn(content: Readonly<Record<string, unknown>>): Partial<ActionCounts> {
  const names = ['reactions', 'comments', 'views', 'shares'] as const
  return Object.fromEntries(
    names.flatMap((name) => (typeof content[name] === 'number' ? [[name, content[name]]] : [])),
  )
}
