import type { Action, ActionId } from '@kith/protocol'
import { actsAsTenant, findViewer } from '#features/relations/index.ts'
import type { Caller, Tenant } from '#infra/caller/index.ts'
import type { Outgoing } from '#infra/http/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import type { ShowDeps } from '../action-ports.ts'
import type { FeedRow } from './feed-query-store.ts'
import { findShown } from './feed-store.ts'
import type { ReadDeps } from './list-actions.ts'
import { showActions } from './show-actions.ts'
import type { ViewCounter } from './view-counter.ts'

export interface ActionRequest {
  readonly tenant: Tenant
  readonly caller: Caller
  readonly actionId: ActionId
}

interface GetDeps extends ShowDeps {
  readonly viewCounter: ViewCounter
}

/** One action. An action that the caller may not see is answered like one that does not exist. `address` tells guests
 * apart. */
export async function getAction(
  deps: GetDeps,
  request: ActionRequest & { readonly address: string },
): Promise<Outgoing<Action>> {
  const row = await getShownRow(deps, request)
  const isNew = await deps.viewCounter.count(request, { issuerTag: row.issuer_tag, status: row.status })
  const counted = isNew ? { ...row, views: row.views + 1 } : row
  const { tenant } = request
  const showsMarks = actsAsTenant(request.caller, tenant)
  const reader = deps.db.reader(tenant.tenantId)
  const [shown] = await showActions(deps, reader, { tenant, rows: [counted], showsMarks })
  return shown as Outgoing<Action>
}

/** The row of an action that the caller may see. */
export async function getShownRow(deps: ReadDeps, request: ActionRequest): Promise<FeedRow> {
  const { tenant, caller, actionId } = request
  const reader = deps.db.reader(tenant.tenantId)
  const viewer = await findViewer(reader, tenant, caller, 'one')
  const row = await findShown(reader, { viewer, actionId, now: nowSecs(deps.clock) })
  if (!row) throw new Failure('E-ACTION-NOTFOUND')
  return row
}
