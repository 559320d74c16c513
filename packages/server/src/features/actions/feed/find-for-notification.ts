import type { Action, IdTag } from '@kith/protocol'
import { actsAsTenant, findEffectiveRelation, findViewer } from '#features/relations/index.ts'
import type { Outgoing } from '#infra/http/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { actionView } from '../action-view.ts'
import { findShown } from './feed-store.ts'
import type { ActionRequest } from './get-action.ts'
import type { ReadDeps } from './list-actions.ts'

/** An action as a single read shows it, for somebody who is notified of it. Undefined where a read would fail, and
 * where a list would leave it out because its issuer is muted. It does not count as a view. */
export async function findForNotification(
  deps: ReadDeps,
  { tenant, caller, actionId }: ActionRequest,
): Promise<Outgoing<Action> | undefined> {
  const reader = deps.db.reader(tenant.tenantId)
  const viewer = await findViewer(reader, tenant, caller, 'one')
  const row = await findShown(reader, { viewer, actionId, now: nowSecs(deps.clock) })
  if (!row) return undefined
  const issuerTag = row.issuer_tag as IdTag
  const appliesMute =
    viewer.facts.has('has-blocks-or-mutes') && issuerTag !== tenant.idTag && issuerTag !== viewer.idTag
  if (appliesMute && (await findEffectiveRelation(reader, issuerTag))?.isMuted) return undefined
  return actionView(row, actsAsTenant(caller, tenant))
}
