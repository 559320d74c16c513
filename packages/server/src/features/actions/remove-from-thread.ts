import type { IdTag } from '@kith/protocol'
import { audit } from '#features/audit/index.ts'
import { actsAsTenant } from '#features/visibility/index.ts'
import type { Caller, Tenant } from '#infra/caller/index.ts'
import type { Reader, Writer } from '#infra/db/index.ts'
import { Failure } from '#lib/failure.ts'
import { endingSubType, type StoredAction } from './action.ts'
import type { ActionPorts } from './action-ports.ts'
import { eraseAction, findStoredAction } from './action-store.ts'
import { listMembers } from './community-members.ts'
import { countAction } from './count-actions.ts'
import type { ActionRequest } from './get-action.ts'
import { listPossibleHolders } from './recipients.ts'
import { sendServerAction, signServerAction } from './server-action.ts'

/** Is this a comment of somebody else in a thread of the tenant's own, and the caller the one who decides there? */
export async function isInOwnThread(
  reader: Reader,
  { tenant, caller }: { readonly tenant: Tenant; readonly caller: Caller },
  { type, withinId }: StoredAction,
): Promise<boolean> {
  if (type !== 'CMNT' || withinId === undefined || !actsAsTenant(caller, tenant)) return false
  return (await findStoredAction(reader, withinId))?.issuerTag === tenant.idTag
}

/** Takes a comment away from the tenant's own thread, here and wherever the thread is held; its issuer keeps it. */
export function removeFromThread(
  ports: ActionPorts,
  request: ActionRequest,
  comment: StoredAction,
): Promise<void> {
  return takeAway(ports, request, {
    action: comment,
    listHolders: (tx) => listThread(tx, request.tenant, comment),
  })
}

/** Who may hold a comment in the tenant's thread. */
async function listThread(tx: Writer, tenant: Tenant, comment: StoredAction): Promise<IdTag[]> {
  const root = comment.withinId && (await findStoredAction(tx, comment.withinId))
  const parent = comment.parentId && (await findStoredAction(tx, comment.parentId))
  const holders = root ? await listPossibleHolders(tx, tenant, root) : []
  const members = tenant.type === 'community' ? await listMembers(tx, 'ever') : []
  return [...new Set([...holders, ...members, ...(parent ? [parent.issuerTag] : [])])]
}

/** Removes another's action from the tenant, and tells those who may hold it because of the tenant. */
export async function takeAway(
  ports: ActionPorts,
  { tenant, caller }: ActionRequest,
  about: { readonly action: StoredAction; readonly listHolders: (tx: Writer) => Promise<readonly IdTag[]> },
): Promise<void> {
  const { actionId, type, issuerTag } = about.action
  const word = { type: 'ANNC', subType: endingSubType, subject: actionId } as const
  const signed = await signServerAction(ports, tenant, word)
  await ports.db.transact(tenant.tenantId, async (tx) => {
    const current = await findStoredAction(tx, actionId)
    if (!current || current.status === 'D') throw new Failure('E-ACTION-NOTFOUND')
    await eraseAction(tx, actionId)
    if (current.status !== 'P') await countAction(ports, tx, { tenant, action: current, by: -1 })
    const holders = await about.listHolders(tx)
    const recipients = holders.filter((tag) => tag !== issuerTag && tag !== tenant.idTag)
    await sendServerAction(ports, tx, { tenant, signed, recipients })
    await audit(ports, tx, {
      event: 'action.removed',
      ...(caller.kind === 'identity' ? { actorTag: caller.idTag } : {}),
      details: { actionId, type, issuerTag },
    })
    await ports.onStored(tx, { kind: 'deleted', tenant, action: { ...current, status: 'D' } })
  })
}
