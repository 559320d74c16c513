import type { ActionId } from '@kith/protocol'
import { findTombstone } from '../action-lookup-store.ts'
import type { ReadDeps } from '../action-ports.ts'
import { findStoredAction } from '../action-store.ts'
import type { ActionRequest } from '../feed/get-action.ts'
import { getOwnAction } from '../removal/delete-action.ts'
import { isIssuer } from './issuer.ts'

/** The id of the last token that was sent for the caller's own action: its own, or that of its deletion, though the
 * deleted action is no longer shown. */
export async function getSentId(ports: ReadDeps, request: ActionRequest): Promise<ActionId> {
  const { tenant, caller, actionId } = request
  const reader = ports.db.reader(tenant.tenantId)
  const action = await findStoredAction(reader, actionId)
  if (action?.status !== 'D' || !isIssuer(tenant, caller, action))
    return (await getOwnAction(ports, request)).actionId
  return (await findTombstone(reader, action)) ?? actionId
}
