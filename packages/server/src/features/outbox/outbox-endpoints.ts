import { listDeliveries as listDeliveriesContract } from '@kith/protocol'
import { bind, type Endpoint } from '#infra/http/index.ts'
import { type ListDeliveriesDeps, listDeliveries } from './list-deliveries.ts'
import { deliveryView } from './outbox-view.ts'

export function outboxEndpoints(deps: ListDeliveriesDeps & { readonly ownServer: () => string }): Endpoint[] {
  return [
    bind(listDeliveriesContract, async ({ tenant, caller, params }) => {
      const jobs = await listDeliveries(deps, { tenant, caller, actionId: params.actionId })
      return jobs.map((job) => deliveryView(job, deps.ownServer()))
    }),
  ]
}
