import {
  listDeliveries as listDeliveriesContract,
  listDeliveryHosts as listHostsContract,
  listOutbox,
} from '@kith/protocol'
import { bind, type Endpoint } from '#infra/http/index.ts'
import { type ListDeliveriesDeps, listDeliveries } from './list-deliveries.ts'
import { type ListHostsDeps, listDeliveryHosts } from './list-delivery-hosts.ts'
import { type ListHistoryDeps, listHistory } from './list-history.ts'
import { deliveryView } from './outbox-view.ts'

export interface OutboxEndpointDeps extends ListDeliveriesDeps, ListHostsDeps, ListHistoryDeps {
  readonly ownServer: () => string
}

export function outboxEndpoints(deps: OutboxEndpointDeps): Endpoint[] {
  return [
    bind(listDeliveriesContract, async ({ tenant, caller, params }) => {
      const jobs = await listDeliveries(deps, { tenant, caller, actionId: params.actionId })
      return jobs.map((job) => deliveryView(job, deps.ownServer()))
    }),
    bind(listHostsContract, ({ query }) => listDeliveryHosts(deps, query)),
    bind(listOutbox, async ({ tenant, caller, query }) => ({
      items: await listHistory(deps, { tenant, caller, ...query }),
    })),
  ]
}
