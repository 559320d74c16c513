import type { Tenant } from '#infra/caller/index.ts'
import type { Writer } from '#infra/db/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { endingSubType, type StoredAction } from '../action.ts'
import type { SendDeps, StoreDeps } from '../action-ports.ts'
import { findSuperseded, insertAction } from '../action-store.ts'
import { type Audience, joined, nobody } from '../audience.ts'
import { countAction } from '../counts/count-actions.ts'
import { eraseButToken } from '../removal/erase-store.ts'
import { hooksOf } from '../types/index.ts'
import { claimIssueTime } from './issue-time.ts'
import { findAudience } from './recipients.ts'

interface OwnAction {
  readonly tenant: Tenant
  readonly action: StoredAction
}

/** Stores a signed action of the tenant with its effects, and queues it for its receivers. Fails with `IssueTimeTaken`
 * when another action with its unique key was stored since it was signed. */
export async function storeAction(
  ports: StoreDeps,
  tx: Writer,
  { tenant, action }: OwnAction,
): Promise<StoredAction> {
  return publishInto(ports, tx, { tenant, action, write: insertAction })
}

/** The same for an action whose row may exist already, as a draft. */
export async function publishInto(
  ports: StoreDeps,
  tx: Writer,
  { tenant, action, write }: OwnAction & { readonly write: typeof insertAction },
): Promise<StoredAction> {
  const superseded = await findSuperseded(tx, action)
  await claimIssueTime(tx, action, nowSecs(ports.clock))
  if (superseded) await eraseButToken(tx, superseded.actionId)
  await write(tx, action)
  // The action that it replaces was counted already.
  if (!superseded) await countAction(ports, tx, { tenant, action, by: 1 })
  await hooksOf(action.type).onCreate?.({ ports, tx, tenant, action, at: nowSecs(ports.clock) })
  await send(ports, tx, { tenant, action })
  await ports.emit(tx, { kind: 'action.created', tenant, action })
  return action
}

/** The delivery of an action of the tenant. It is not sent before the second that its token names. */
export function outgoingOf(
  {
    actionId,
    issuerTag,
    subType,
    issuedAt,
  }: Pick<StoredAction, 'actionId' | 'issuerTag' | 'subType' | 'issuedAt'>,
  audience: Audience,
) {
  return { actionId, issuerTag, audience, notBefore: issuedAt, isEnding: subType === endingSubType }
}

async function send(ports: SendDeps, tx: Writer, { tenant, action }: OwnAction): Promise<void> {
  const own = await findAudience(tx, tenant, action)
  const others = (await hooksOf(action.type).findOthers?.(tx, tenant, action)) ?? nobody
  await ports.deliver(tx, outgoingOf(action, joined(own, others)))
}
