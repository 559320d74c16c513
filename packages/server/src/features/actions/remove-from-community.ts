import { audit } from '#features/audit/index.ts'
import { actsAsTenant } from '#features/visibility/index.ts'
import type { Caller, Tenant } from '#infra/caller/index.ts'
import type { Reader } from '#infra/db/index.ts'
import { Failure } from '#lib/failure.ts'
import { endingSubType, type StoredAction } from './action.ts'
import type { ActionPorts } from './action-ports.ts'
import { eraseAction, findStoredAction } from './action-store.ts'
import { isForCommunity, listMembers } from './community-members.ts'
import { countAction } from './count-actions.ts'
import type { ActionRequest } from './get-action.ts'
import { sendServerAction, signServerAction } from './server-action.ts'

const removable: ReadonlySet<string> = new Set(['POST', 'SHRE', 'CMNT'])

/** May the caller take away what somebody else gave to the community, or said under what is there? Moderators may. */
export async function mayRemove(
  reader: Reader,
  { tenant, caller }: { readonly tenant: Tenant; readonly caller: Caller },
  action: StoredAction,
): Promise<boolean> {
  if (tenant.type !== 'community' || !actsAsTenant(caller, tenant) || !removable.has(action.type))
    return false
  if (isForCommunity(tenant, action)) return true
  const root = action.withinId === undefined ? undefined : await findStoredAction(reader, action.withinId)
  return root !== undefined && (root.issuerTag === tenant.idTag || isForCommunity(tenant, root))
}

/** Takes an action away from a community and from its members; its issuer keeps it. */
export async function removeFromCommunity(
  ports: ActionPorts,
  { tenant, caller }: ActionRequest,
  action: StoredAction,
): Promise<void> {
  const { actionId, type, issuerTag } = action
  const word = { type: 'ANNC', subType: endingSubType, subject: actionId } as const
  const signed = await signServerAction(ports, tenant, word)
  await ports.db.transact(tenant.tenantId, async (tx) => {
    const current = await findStoredAction(tx, actionId)
    if (!current || current.status === 'D') throw new Failure('E-ACTION-NOTFOUND')
    await eraseAction(tx, actionId)
    await countAction(ports, tx, { tenant, action: current, by: -1 })
    const recipients = (await listMembers(tx, 'ever')).filter((tag) => tag !== issuerTag)
    await sendServerAction(ports, tx, { tenant, signed, recipients })
    await audit(ports, tx, {
      event: 'action.removed',
      ...(caller.kind === 'identity' ? { actorTag: caller.idTag } : {}),
      details: { actionId, type, issuerTag },
    })
    await ports.onStored(tx, { kind: 'deleted', tenant, action: { ...current, status: 'D' } })
  })
}
