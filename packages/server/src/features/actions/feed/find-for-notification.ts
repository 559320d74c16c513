import type { Action, IdTag } from '@kith/protocol'
import { actsAsTenant, findEffectiveRelation, findViewer } from '#features/relations/index.ts'
import type { Outgoing } from '#infra/http/index.ts'
import { nowSecs } from '#lib/clock.ts'
import type { ShowDeps } from '../action-ports.ts'
import { actionView } from '../action-view.ts'
import type { FeedRow } from './feed-query-store.ts'
import { findShown } from './feed-store.ts'
import type { ActionRequest } from './get-action.ts'
import type { ReadDeps } from './list-actions.ts'
import { showActions } from './show-actions.ts'

/** An action as a single read shows it, but for its files, for somebody who is notified of it. Undefined where a read
 * would fail, and where a list would leave it out because its issuer is muted. It does not count as a view. */
export async function findForNotification(
  deps: ReadDeps,
  request: ActionRequest,
): Promise<Outgoing<Action> | undefined> {
  const row = await findRow(deps, request)
  return row && actionView(row, actsAsTenant(request.caller, request.tenant))
}

/** The same with its files. */
export async function findWithFiles(
  deps: ShowDeps,
  request: ActionRequest,
): Promise<Outgoing<Action> | undefined> {
  const { tenant, caller } = request
  const row = await findRow(deps, request)
  const showsMarks = actsAsTenant(caller, tenant)
  const rows = row ? [row] : []
  return (await showActions(deps, deps.db.reader(tenant.tenantId), { tenant, rows, showsMarks }))[0]
}

async function findRow(
  deps: ReadDeps,
  { tenant, caller, actionId }: ActionRequest,
): Promise<FeedRow | undefined> {
  const reader = deps.db.reader(tenant.tenantId)
  const viewer = await findViewer(reader, tenant, caller, 'one')
  const row = await findShown(reader, { viewer, actionId, now: nowSecs(deps.clock) })
  if (!row) return undefined
  const issuerTag = row.issuer_tag as IdTag
  const appliesMute =
    viewer.facts.has('has-blocks-or-mutes') && issuerTag !== tenant.idTag && issuerTag !== viewer.idTag
  const isMuted = appliesMute && (await findEffectiveRelation(reader, issuerTag))?.isMuted === true
  return isMuted ? undefined : row
}
