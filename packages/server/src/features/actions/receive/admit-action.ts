import type { IdTag } from '@kith/protocol'
import { findEffectiveRelation } from '#features/relations/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import { serverTenant, type Writer } from '#infra/db/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { endingSubType, type StoredAction } from '../action.ts'
import { hasTombstone, settleChildren } from '../action-lookup-store.ts'
import type { SendDeps, StoreDeps } from '../action-ports.ts'
import { findNewest, findStoredAction, findSuperseded } from '../action-store.ts'
import { nobody } from '../audience.ts'
import { announceComment, announceLater } from '../community/announce-action.ts'
import { dropUnannounced } from '../community/drop-unannounced.ts'
import { countAction } from '../counts/count-actions.ts'
import { compareTarget, keptApart } from '../endorsement/compare-target.ts'
import { compareEndorsements } from '../endorsement/endorsement-store.ts'
import { eraseAction } from '../removal/erase-store.ts'
import { isWithdrawn } from '../removal/tombstone-store.ts'
import { hooksOf } from '../types/index.ts'
import { isNewer } from '../unique-key.ts'

/** An action of another identity at one of the tenants that it concerns. */
export interface Arrival {
  readonly tenant: Tenant
  readonly action: StoredAction
  /** The community or the owner of the thread that announced it. */
  readonly via?: IdTag | undefined
  /** The issuer is a stranger to the tenant. */
  readonly isFromStranger?: boolean
}

/** Was it withdrawn before it arrived, by a record of this tenant or a tombstone of the server? */
async function wasWithdrawn(tx: Writer, action: StoredAction): Promise<boolean> {
  return (await hasTombstone(tx, action)) || (await isWithdrawn(tx.as(serverTenant), action))
}

/** Was it withdrawn before it arrived, or did a newer action with its unique key arrive first? A newer one that has
 * ended since counts as well. */
export async function isLate(tx: Writer, action: StoredAction): Promise<boolean> {
  if (await wasWithdrawn(tx, action)) return true
  const newest = await findNewest(tx, action)
  return newest !== undefined && isNewer(newest, action)
}

/** The action as the hook of its type admits it; a `Failure` refuses it. */
export async function applyReceived(
  ports: StoreDeps,
  tx: Writer,
  { tenant, action, isFromStranger = false }: Arrival,
): Promise<StoredAction> {
  const compared = await compareTarget(tx, action)
  const scene = { ports, tx, tenant, action: compared, isFromStranger, at: nowSecs(ports.clock) }
  const taken = keptApart({ ...compared, ...(await hooksOf(action.type).admit?.(scene)) })
  return { ...taken, isFeedOnly: await isFeedOnly(tx, tenant, taken) }
}

/** Lists never show visitors of a person what third parties neither addressed to that person nor said in one of the
 * person's threads, unless the person reposts it or it concerns the visitor. */
async function isFeedOnly(tx: Writer, tenant: Tenant, action: StoredAction): Promise<boolean> {
  const { idTag, type } = tenant
  if (type === 'community' || action.audienceTag === idTag || action.audience.includes(idTag)) return false
  const root = action.withinId && (await findStoredAction(tx, action.withinId))
  return root?.issuerTag !== idTag
}

/** Makes an admitted action visible to its readers, with all its effects; `write` stores it. */
export async function admitAction(
  ports: StoreDeps,
  tx: Writer,
  arrival: Arrival & { readonly write: (tx: Writer, action: StoredAction) => Promise<void> },
): Promise<void> {
  const { tenant, action, write } = arrival
  const superseded = await findSuperseded(tx, action)
  if (superseded) await eraseAction(tx, superseded.actionId)
  await write(tx, action)
  await dropUnannounced(ports, tx, { tenant, action })
  await compareEndorsements(tx, action)
  if (action.withinId === undefined) await settleChildren(tx, action)
  // The action that it replaces was counted already, unless it meant something else.
  if (!superseded || superseded.isMismatched) await countAction(ports, tx, { tenant, action, by: 1 })
  else if (action.isMismatched) await countAction(ports, tx, { tenant, action: superseded, by: -1 })
  await hooksOf(action.type).onReceive?.({ ports, tx, tenant, action, at: nowSecs(ports.clock) })
  await announceToMembers(ports, tx, { tenant, action })
  await ports.emit(tx, { kind: 'action.received', tenant, action })
}

/** A community does not pass on what muted identities say, and nobody what is said of something else. */
async function announceToMembers(ports: StoreDeps, tx: Writer, { tenant, action }: Arrival): Promise<void> {
  if (hooksOf(action.type).isAnnounced) return announceLater(ports, tx, { tenant, action })
  if (action.isMismatched) return
  if (tenant.type === 'community' && (await findEffectiveRelation(tx, action.issuerTag))?.isMuted) return
  if (action.type === 'CMNT') await announceComment(ports, tx, { tenant, action })
  else await relay(ports, tx, { tenant, about: action, sent: action })
}

/** Passes on an action as it came, to receivers that only this tenant knows. */
export async function relay(
  ports: SendDeps,
  tx: Writer,
  { tenant, about, sent }: Record<'about' | 'sent', StoredAction> & { readonly tenant: Tenant },
): Promise<void> {
  const audience = (await hooksOf(about.type).findRelays?.(tx, tenant, about)) ?? nobody
  const { actionId, subType, issuerTag: sender } = sent
  // In the tenant's own order of delivery: an ending must not overtake what it ends.
  const { idTag: issuerTag } = tenant
  const isEnding = subType === endingSubType
  await ports.deliver(tx, { actionId, issuerTag, audience, leftOut: [sender], isEnding })
}
