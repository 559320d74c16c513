import type { IdTag } from '@kith/protocol'
import { type ListHistoryDeps, listHistory } from '#features/actions/index.ts'
import { findRole } from '#features/relations/index.ts'
import { type Tenant, visitor } from '#infra/caller/index.ts'
import type { HistoryDeps } from './fetch-history.ts'
import { type RequestHistoryDeps, requestHistory } from './request-history.ts'

export interface HistoryRequesterDeps extends ListHistoryDeps, RequestHistoryDeps {
  /** A tenant of this server. */
  findHosted(idTag: IdTag): Promise<(Tenant & { readonly suspendedAt?: number | undefined }) | undefined>
}

/** The history of an identity. That of a tenant of this server is read here, with the answer that another server would
 * get. */
export function historyRequester(deps: HistoryRequesterDeps): HistoryDeps['requestHistory'] {
  return async (tenant, idTag, { since, signal }) => {
    const local = await deps.findHosted(idTag)
    if (!local) return await requestHistory(deps, { tenant, idTag, since }, signal)
    if (local.suspendedAt !== undefined) return []
    const caller = visitor(tenant.idTag, await findRole(deps.db.reader(local.tenantId), tenant.idTag))
    return await listHistory(deps, { tenant: local, caller, since })
  }
}
