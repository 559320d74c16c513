import { listDeliveries as listDeliveriesContract } from '@kith/protocol'
import type { Database } from '#infra/db/index.ts'
import { bind, type Endpoint } from '#infra/http/index.ts'
import { type ListDeliveriesDeps, listDeliveries } from './list-deliveries.ts'
import { deliveryView } from './outbox-view.ts'

export function outboxEndpoints(
  deps: ListDeliveriesDeps & { readonly db: Database; readonly ownServer: () => string },
): Endpoint[] {
  return [
    bind(listDeliveriesContract, async ({ tenant, caller, params }) => {
      const reader = deps.db.reader(tenant.tenantId)
      const jobs = await listDeliveries(deps, { reader, caller, actionId: params.actionId })
      return jobs.map((job) => deliveryView(job, deps.ownServer()))
    }),
  ]
}
