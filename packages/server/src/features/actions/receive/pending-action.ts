import { type ActionId, type FileId, findActionType, type IdTag } from '@kith/protocol'
import { findEffectiveRelation } from '#features/relations/index.ts'
import type { Tenants } from '#features/tenants/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import type { TenantId, Writer } from '#infra/db/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import type { StoredAction } from '../action.ts'
import type { QueueDeps, ReadDeps, ReceiveDeps, StoreDeps } from '../action-ports.ts'
import { findStoredAction, insertAction, setExtra } from '../action-store.ts'
import { admitLaterJob } from '../job-kinds.ts'
import { dropCopiesLater } from '../removal/drop-copies.ts'
import { eraseAction } from '../removal/erase-store.ts'
import { setVerified } from '../transfer/unverified-store.ts'
import { hooksOf } from '../types/index.ts'
import { type Arrival, admitAction, applyReceived, isLate } from './admit-action.ts'
import { endAwaiting, isAwaiting, markAwaited, promoteAction } from './pending-store.ts'

/** The outcome for an attachment: `contradicted` when its bytes do not match its id, `unavailable` when it cannot be
 * fetched now. */
type AttachmentVerdict = 'held' | 'unavailable' | 'contradicted'

// No file is waited for longer: then the action is shown without it.
const longestWaitMs = 10 * 60_000

/** Stores an action as P until its attachments are checked (docs/protocol/files.md), if any must be fetched. The hook
 * of its type has admitted it before, so nothing is fetched for refused actions. */
export async function awaitAttachments(ports: ReceiveDeps, tx: Writer, arrival: Arrival): Promise<boolean> {
  const { action, via, isFromStranger } = arrival
  const { actionId, issuerTag, attachments } = action
  // A stranger's attachments are fetched when somebody asks for them.
  if (attachments.length === 0 || isFromStranger || hooksOf(action.type).isFetchedLater) return false
  // Members may read at the community what it announces; the issuer does not know them and may refuse.
  const sourceTag = via ?? issuerTag
  const awaited = await ports.attachments.queueFetches(tx, { issuerTag, attachments, sourceTag })
  if (awaited.length === 0) return false
  await insertAction(tx, { ...action, isMarked: false, status: 'P' })
  await markAwaited(tx, actionId, awaited)
  const runAtMs = ports.clock.now() + longestWaitMs
  await ports.jobs.enqueue(tx, admitLaterJob, { actionId }, { runAtMs, dedupKey: actionId })
  return true
}

/** Tells the actions of an issuer that wait for a file what came of fetching it from that issuer. What another server
 * sends for the same file does not count. */
export async function settleAttachment(
  ports: StoreDeps,
  tx: Writer,
  told: {
    readonly tenant: Tenant
    readonly fileId: FileId
    readonly issuerTag: IdTag
    readonly verdict: AttachmentVerdict
  },
): Promise<void> {
  const { tenant, verdict } = told
  for (const actionId of await endAwaiting(tx, told)) {
    if (verdict === 'contradicted') await refusePending(ports, tx, actionId, new Failure('E-VALIDATION'))
    else if (!(await isAwaiting(tx, actionId))) await admitPending(ports, tx, { tenant, actionId })
  }
}

/** The same in a transaction of its own, unless the tenant is gone. */
export async function settleTried(
  deps: ReadDeps & StoreDeps & { readonly tenants: Pick<Tenants, 'findById'> },
  tenantId: TenantId,
  told: {
    readonly fileId: FileId
    readonly issuerTag: IdTag
    readonly verdict: AttachmentVerdict
  },
): Promise<void> {
  const tenant = await deps.tenants.findById(tenantId)
  if (tenant) await deps.db.transact(tenantId, (tx) => settleAttachment(deps, tx, { ...told, tenant }))
}

/** Admits an action when the time for its attachments is over. */
export async function admitWaiting(
  ports: ReadDeps & StoreDeps,
  tenant: Tenant,
  actionId: ActionId,
): Promise<void> {
  await ports.db.transact(tenant.tenantId, (tx) => admitPending(ports, tx, { tenant, actionId }))
}

/** Repeats the checks whose result may have changed since the action arrived. */
async function admitPending(
  ports: StoreDeps,
  tx: Writer,
  { tenant, actionId }: { readonly tenant: Tenant; readonly actionId: ActionId },
): Promise<void> {
  const pending = await findStoredAction(tx, actionId)
  if (pending?.status !== 'P') return
  const relation = await findEffectiveRelation(tx, pending.issuerTag)
  if (relation?.isBlocked || (await isLate(tx, pending))) return await erasePending(ports, tx, pending)
  try {
    const arrived: StoredAction = { ...pending, status: findActionType(pending.type)?.arrivesAs ?? 'A' }
    const action = await applyReceived(ports, tx, { tenant, action: arrived })
    await admitAction(ports, tx, { tenant, action, write: promoteAction })
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    await refusePending(ports, tx, actionId, error)
  }
}

/** The signature of an imported action has been verified: from then on its readers read it. */
export async function confirmAction(
  ports: StoreDeps,
  tx: Writer,
  { tenant, actionId }: { readonly tenant: Tenant; readonly actionId: ActionId },
): Promise<void> {
  const action = await findStoredAction(tx, actionId)
  if (!action?.isUnverified) return
  await setVerified(tx, actionId)
  if (action.status === 'P') return await admitPending(ports, tx, { tenant, actionId })
  const isLive = action.status === 'A' || action.status === 'C'
  // Its issuer may have withdrawn it since the archive was written.
  if (isLive && (await isLate(tx, action))) return await erasePending(ports, tx, action)
  if (isLive) await hooksOf(action.type).onVerified?.({ ports, tx, tenant, action, at: nowSecs(ports.clock) })
}

/** Removes it together with the files that were fetched for it. */
async function erasePending(ports: QueueDeps, tx: Writer, pending: StoredAction): Promise<void> {
  await eraseAction(tx, pending.actionId)
  await dropCopiesLater(ports, tx, pending)
}

async function refusePending(
  ports: QueueDeps,
  tx: Writer,
  actionId: ActionId,
  failure: Failure,
): Promise<void> {
  const pending = await findStoredAction(tx, actionId)
  if (pending?.status !== 'P') return
  await erasePending(ports, tx, pending)
  await setExtra(tx, actionId, { refused: failure.code })
}
