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

/** Removes comments that their issuers delivered before the action they are about arrived, when it was not yet known
 * who decides in the thread. Whoever decides there may announce them again. Comments that were announced stay: they
 * are stored under the root that they name. */
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
