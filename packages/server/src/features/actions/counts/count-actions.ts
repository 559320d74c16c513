import { type ActionId, parseActionId, type Visibility } from '@kith/protocol'
import type { Tenant } from '#infra/caller/index.ts'
import type { Writer } from '#infra/db/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { endingSubType, type StoredAction } from '../action.ts'
import type { CountDeps, QueueDeps } from '../action-ports.ts'
import { deleteReads } from '../feed/reader-store.ts'
import { tellCountsJob } from '../job-kinds.ts'
import { addToCount, type Counter, findVisibility } from './count-store.ts'

// Collects what happens in the meantime, so that counts of a popular action are not sent for every reaction.
const tellAfterSecs = 10

/** The action at which this one is counted: comments at their parent, the others at their subject. */
function countedAt(action: StoredAction): { counter: Counter; targetId: ActionId } | undefined {
  if (action.subType === endingSubType || action.isMismatched) return undefined
  const subject = parseActionId(action.subject ?? '')
  if (action.type === 'CMNT' && action.parentId) return { counter: 'comments', targetId: action.parentId }
  if (!subject) return undefined
  if (action.type === 'REACT') return { counter: 'reactions', targetId: subject }
  if (action.type === 'REPOST' || action.type === 'SHRE') return { counter: 'shares', targetId: subject }
  return undefined
}

// From the narrowest to the widest.
const widths: readonly Visibility[] = [null, 'C', 'F', 'V', 'P']

/** A comment or reaction that fewer people may read than the root is not counted: the number would disclose it to the
 * others. */
async function isAsWideAsRoot(tx: Writer, { withinId, visibility }: StoredAction): Promise<boolean> {
  const root = withinId && (await findVisibility(tx, withinId))
  return !root || widths.indexOf(visibility) >= widths.indexOf(root.visibility)
}

/** Counts an action when its row is added, or uncounts it. */
export async function countAction(
  ports: CountDeps,
  tx: Writer,
  { tenant, action, by }: { readonly tenant: Tenant; readonly action: StoredAction; readonly by: 1 | -1 },
): Promise<void> {
  const counted = countedAt(action)
  if (!counted) return
  if (counted.counter === 'comments') {
    if (by === -1) await deleteReads(tx, { commentId: action.actionId, parentId: counted.targetId })
    if (!(await isAsWideAsRoot(tx, action))) return
  }
  const issuerTag = await addToCount(tx, counted.counter, {
    actionId: counted.targetId,
    by,
    isOwn: Number(action.issuerTag === tenant.idTag),
    tenantTag: tenant.idTag,
  })
  if (issuerTag !== undefined) await ports.emit(tx, { kind: 'action.counted', actionId: counted.targetId })
  if (issuerTag === tenant.idTag) await tellCountsLater(ports, tx, counted.targetId)
}

/** Queues telling an action's counts, once for everything that is counted until then. */
export async function tellCountsLater(
  ports: QueueDeps & { readonly clock: Clock },
  tx: Writer,
  actionId: ActionId,
): Promise<void> {
  await tellCountsAt(ports, tx, { actionId, at: nowSecs(ports.clock) + tellAfterSecs })
}

/** Queues telling an action's counts at a time in Unix seconds. */
export async function tellCountsAt(
  { jobs }: QueueDeps,
  tx: Writer,
  { actionId, at }: { readonly actionId: ActionId; readonly at: number },
): Promise<void> {
  await jobs.enqueue(tx, tellCountsJob, { actionId }, { dedupKey: actionId, runAtMs: at * 1000 })
}
