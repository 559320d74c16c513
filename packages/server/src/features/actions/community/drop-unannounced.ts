import type { Tenant } from '#infra/caller/index.ts'
import type { Writer } from '#infra/db/index.ts'
import type { StoredAction } from '../action.ts'
import { listCommentsBefore } from '../action-lookup-store.ts'
import type { CountDeps } from '../action-ports.ts'
import { deleteAction, findStoredAction } from '../action-store.ts'
import { countAction } from '../counts/count-actions.ts'
import { dropCopiesLater } from '../removal/drop-copies.ts'
import { decidesOn } from './thread-authority.ts'

const commented: ReadonlySet<string> = new Set(['POST', 'SHRE', 'REPOST', 'CMNT'])

/** Removes comments that came by themselves before the action that they are about, and so before it was known in whose thread
 * they stand. They may come again, from who decides there. What was announced has been put under the root that it names. */
export async function dropUnannounced(
  ports: CountDeps,
  tx: Writer,
  { tenant, action }: { readonly tenant: Tenant; readonly action: StoredAction },
): Promise<void> {
  if (!commented.has(action.type)) return
  const early = await listCommentsBefore(tx, tenant.idTag, action.actionId)
  const root = early.length > 0 && action.withinId ? await findStoredAction(tx, action.withinId) : action
  if (early.length === 0 || !root || decidesOn(tenant, root)) return
  for (const actionId of early) {
    const comment = await findStoredAction(tx, actionId)
    const isAnnounced = action !== root && comment?.withinId === root.actionId
    if (!comment || isAnnounced || comment.issuerTag === root.issuerTag) continue
    if (comment.status === 'A') await countAction(ports, tx, { tenant, action: comment, by: -1 })
    await dropCopiesLater(ports, tx, comment)
    await deleteAction(tx, actionId)
    await ports.emit(tx, { kind: 'action.deleted', tenant, action: { ...comment, status: 'D' } })
  }
}
