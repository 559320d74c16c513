import { actsAsTenant } from '#features/visibility/index.ts'
import type { Caller, Tenant } from '#infra/caller/index.ts'
import type { Reader } from '#infra/db/index.ts'
import type { StoredAction } from './action.ts'
import type { ActionPorts } from './action-ports.ts'
import { findStoredAction } from './action-store.ts'
import { isForCommunity, listMembers } from './community-members.ts'
import type { ActionRequest } from './get-action.ts'
import { takeAway } from './remove-from-thread.ts'

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
export function removeFromCommunity(
  ports: ActionPorts,
  request: ActionRequest,
  action: StoredAction,
): Promise<void> {
  return takeAway(ports, request, { action, listHolders: (tx) => listMembers(tx, 'ever') })
}
