import type { Tenant } from '#infra/caller/index.ts'
import type { Writer } from '#infra/db/index.ts'
import { nowSecs } from '#lib/clock.ts'
import type { StoredAction } from './action.ts'
import type { ActionPorts } from './action-ports.ts'
import { findRival, insertAction, setStatus } from './action-store.ts'
import { countAction } from './count-actions.ts'
import { listRecipients } from './recipients.ts'
import { hooksOf } from './types/index.ts'
import { isNewer } from './unique-key.ts'

interface OwnAction {
  readonly tenant: Tenant
  readonly action: StoredAction
}

/** Stores a signed action of the tenant's own with its effects, and queues it for its receivers. A newer action of
 * the same key may stand already: then it is kept as deleted. */
export async function storeAction(
  ports: ActionPorts,
  tx: Writer,
  { tenant, action }: OwnAction,
): Promise<StoredAction> {
  return publishInto(ports, tx, { tenant, action, write: insertAction })
}

/** The same for an action whose row may be there already, as a draft. */
export async function publishInto(
  ports: ActionPorts,
  tx: Writer,
  { tenant, action, write }: OwnAction & { readonly write: typeof insertAction },
): Promise<StoredAction> {
  const rival = await findRival(tx, action)
  const stands = !rival || isNewer(action, rival)
  const stored: StoredAction = stands ? action : { ...action, status: 'D' }
  if (rival && stands) await setStatus(tx, rival.actionId, 'D')
  await write(tx, stored)
  if (!stands) return stored
  // The one it replaces was counted already.
  if (!rival) await countAction(ports, tx, { tenant, action: stored, by: 1 })
  await hooksOf(action.type).onCreate?.({ ports, tx, tenant, action: stored, at: nowSecs(ports.clock) })
  await send(ports, tx, { tenant, action: stored })
  await ports.onStored(tx, { kind: 'created', tenant, action: stored })
  return stored
}

async function send(ports: ActionPorts, tx: Writer, { tenant, action }: OwnAction): Promise<void> {
  const named = await listRecipients(tx, tenant, action)
  const others = (await hooksOf(action.type).listOthers?.(tx, tenant, action)) ?? []
  const recipients = new Set([...named, ...others])
  recipients.delete(tenant.idTag)
  const { actionId, issuerTag } = action
  if (recipients.size > 0) await ports.deliver(tx, { actionId, issuerTag, recipients: [...recipients] })
}
