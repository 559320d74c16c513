import { type ActionId, parseActionId } from '@kith/protocol'
import type { Tenant } from '#infra/caller/index.ts'
import type { Writer } from '#infra/db/index.ts'
import { endingSubType, type StoredAction } from './action.ts'
import type { ActionPorts } from './action-ports.ts'
import { addToCount, type Counter } from './count-store.ts'
import { tellCountsJob } from './job-kinds.ts'

// One word for all that happens meanwhile: a popular action is not told about each time it is liked.
const tellAfterMs = 10_000

/** Where an action is counted: comments at their parent, the others at their subject. */
function countedAt(action: StoredAction): { counter: Counter; targetId: ActionId } | undefined {
  if (action.subType === endingSubType) return undefined
  const subject = parseActionId(action.subject ?? '')
  if (action.type === 'CMNT' && action.parentId) return { counter: 'comments', targetId: action.parentId }
  if (!subject) return undefined
  if (action.type === 'REACT') return { counter: 'reactions', targetId: subject }
  if (action.type === 'REPOST' || action.type === 'SHRE') return { counter: 'shares', targetId: subject }
  return undefined
}

/** Counts an action with the row it adds, or takes it back. */
export async function countAction(
  ports: Pick<ActionPorts, 'jobs' | 'clock' | 'onCounted'>,
  tx: Writer,
  { tenant, action, by }: { readonly tenant: Tenant; readonly action: StoredAction; readonly by: 1 | -1 },
): Promise<void> {
  const counted = countedAt(action)
  if (!counted) return
  const issuerTag = await addToCount(tx, counted.counter, {
    actionId: counted.targetId,
    by,
    isOwn: Number(action.issuerTag === tenant.idTag),
    tenantTag: tenant.idTag,
  })
  if (issuerTag !== undefined) ports.onCounted(tx, counted.targetId)
  if (issuerTag === tenant.idTag) await tellCountsLater(ports, tx, counted.targetId)
}

/** Queues the word on an action's counts, once for all that is counted until then. */
export async function tellCountsLater(
  ports: Pick<ActionPorts, 'jobs' | 'clock'>,
  tx: Writer,
  actionId: ActionId,
): Promise<void> {
  const options = { dedupKey: actionId, runAtMs: ports.clock.now() + tellAfterMs }
  await ports.jobs.enqueue(tx, tellCountsJob, { actionId }, options)
}
