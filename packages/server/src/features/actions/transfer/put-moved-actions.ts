import { parseActionId } from '@kith/protocol'
import type { Tenant } from '#infra/caller/index.ts'
import type { Writer } from '#infra/db/index.ts'
import type { Jobs } from '#infra/jobs/index.ts'
import type { StoredAction } from '../action.ts'
import { settleChildren } from '../action-lookup-store.ts'
import { findStoredAction, insertAction } from '../action-store.ts'
import type { ActionTables } from '../action-tables.ts'
import { compareTarget, keptApart } from '../endorsement/compare-target.ts'
import { compareEndorsements } from '../endorsement/endorsement-store.ts'
import type { FeedTables } from '../feed/feed-query-store.ts'
import { publishLaterJob } from '../job-kinds.ts'
import { rootIdOf } from '../types/thread.ts'
import type { MovedAction } from './read-moved-action.ts'

interface QueueAllDeps {
  readonly jobs: Pick<Jobs, 'enqueueAll'>
}

/** Stores actions of an archive for the tenant of `tx`, in the order in which they had arrived, with the rows that they
 * are looked up by. Nobody is told of them, and they count nothing. */
export async function putMovedActions(
  tx: Writer,
  { tenant, actions }: { readonly tenant: Tenant; readonly actions: readonly MovedAction[] },
): Promise<void> {
  for (const { action: read, bookkeeping } of actions) {
    const action = await placed(tx, tenant, read)
    await insertAction(tx, action)
    await putBookkeeping(tx, action, bookkeeping)
    if (bookkeeping.comments > 0) await putRead(tx, action, { tenant, comments: bookkeeping.comments })
    await compareEndorsements(tx, action)
    if (action.withinId === undefined) await settleChildren(tx, action)
  }
}

/** Queues the publication of what the tenant of `tx` has scheduled. */
export async function queueScheduled({ jobs }: QueueAllDeps, tx: Writer): Promise<void> {
  const scheduled = await tx
    .tables<ActionTables>()
    .selectFrom('actions')
    .select(['action_id', 'publish_at'])
    .where('tenant_id', '=', tx.tenantId)
    .where('status', '=', 'S')
    .execute()
  await jobs.enqueueAll(
    tx,
    publishLaterJob,
    scheduled.map(({ action_id: actionId, publish_at }) => ({
      payload: { actionId },
      options: { runAtMs: (publish_at ?? 0) * 1000 },
    })),
  )
}

/** Whose readers an action has is derived anew, as when it arrives: an archive could say that a private comment belongs
 * to a public thread. */
async function placed(tx: Writer, tenant: Tenant, action: StoredAction): Promise<StoredAction> {
  if (action.status === 'D' || action.status === 'T') return action
  const thread = await threadOf(tx, tenant, action)
  return keptApart({ ...(await compareTarget(tx, action)), ...thread })
}

async function threadOf(
  tx: Writer,
  tenant: Tenant,
  { type, issuerTag, audienceTag, parentId, rootId, subject, visibility }: StoredAction,
): Promise<Partial<Pick<StoredAction, 'withinId' | 'rootId' | 'visibility' | 'audienceTag'>>> {
  if (type === 'MSG') return { withinId: rootId ?? parentId }
  if (type === 'ACK') return { audienceTag: issuerTag === tenant.idTag ? audienceTag : tenant.idTag }
  const aboutId = type === 'CMNT' ? parentId : type === 'REACT' ? parseActionId(subject ?? '') : undefined
  if (!aboutId) return {}
  const about = await findStoredAction(tx, aboutId)
  const withinId = about ? rootIdOf(about) : (rootId ?? aboutId)
  const root = withinId === aboutId ? about : await findStoredAction(tx, withinId)
  const place = { withinId, visibility: visibility ?? root?.visibility ?? null }
  return type === 'CMNT' ? { ...place, rootId: withinId } : place
}

async function putBookkeeping(
  tx: Writer,
  { actionId }: StoredAction,
  { isKeyed, statAt, keptSince, ...counts }: MovedAction['bookkeeping'],
): Promise<void> {
  await tx
    .tables<ActionTables>()
    .updateTable('actions')
    .set({
      ...counts,
      stat_at: statAt ?? null,
      kept_since: keptSince ?? null,
      ...(isKeyed ? {} : { unique_key: null }),
    })
    .where('tenant_id', '=', tx.tenantId)
    .where('action_id', '=', actionId)
    .execute()
}

/** Who has read which comment does not come along: those that are there count as read by the tenant. */
async function putRead(
  tx: Writer,
  { actionId }: StoredAction,
  { tenant, comments }: { readonly tenant: Tenant; readonly comments: number },
): Promise<void> {
  await tx
    .tables<FeedTables>()
    .insertInto('action_reads')
    .values({ tenant_id: tx.tenantId, action_id: actionId, reader_tag: tenant.idTag, comments })
    .execute()
}
