import type { Action, ActionId } from '@kith/protocol'
import { actsAsTenant, findViewer } from '#features/visibility/index.ts'
import type { Caller, Tenant } from '#infra/caller/index.ts'
import type { Outgoing } from '#infra/http/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { actionView } from './action-view.ts'
import { findShown } from './feed-store.ts'
import type { ReadDeps } from './list-actions.ts'

export interface ActionRequest {
  readonly tenant: Tenant
  readonly caller: Caller
  readonly actionId: ActionId
}

/** One action; what the caller may not see is answered like what does not exist. */
export async function getAction(deps: ReadDeps, request: ActionRequest): Promise<Outgoing<Action>> {
  const { tenant, caller, actionId } = request
  const reader = deps.db.reader(tenant.tenantId)
  const viewer = await findViewer(reader, tenant, caller)
  const row = await findShown(reader, { viewer, actionId, now: nowSecs(deps.clock) })
  if (!row) throw new Failure('E-ACTION-NOTFOUND')
  return actionView(row, actsAsTenant(caller, tenant))
}
