import type { IdTag } from '@kith/protocol'
import { findRelation, tenantViewer } from '#features/relations/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import { Failure } from '#lib/failure.ts'
import type { CreateDeps } from '../action-ports.ts'
import { withIssueTime } from './issue-time.ts'
import { parseAction } from './parse-action.ts'
import { prepareBody } from './prepare-action.ts'
import { draftAction, signAction } from './sign-action.ts'
import { storeAction } from './store-action.ts'

/** Does the work of `reconnectJob`. Whom the tenant cannot ask any more it does not ask. */
export async function reconnect(ports: CreateDeps, tenant: Tenant, idTag: IdTag): Promise<void> {
  const reader = ports.db.reader(tenant.tenantId)
  const relation = await findRelation(reader, idTag)
  if (relation?.connection !== 'requested' || relation.isBlocked) return
  const issuing = { tenant, caller: undefined, viewer: tenantViewer(tenant) }
  try {
    const input = parseAction({ type: 'CONN', audienceTag: idTag })
    const body = await prepareBody(ports, reader, { issuing, body: input })
    await withIssueTime(async () => {
      const action = await signAction(ports, reader, { tenant, draft: draftAction(ports, issuing, body) })
      await ports.db.transact(tenant.tenantId, (tx) => storeAction(ports, tx, { tenant, action }))
    })
  } catch (error) {
    if (!(error instanceof Failure) || error.code === 'E-UNAVAILABLE') throw error
  }
}
