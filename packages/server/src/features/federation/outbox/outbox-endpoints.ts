import {
  listDeliveries as listDeliveriesContract,
  listDeliveryHosts as listHostsContract,
  listOutbox,
} from '@kith/protocol'
import { type ListHistoryDeps, listHistory } from '#features/actions/index.ts'
import { bind, type Endpoint } from '#infra/http/index.ts'
import { type ListDeliveriesDeps, listDeliveries } from './list-deliveries.ts'
import { type ListHostsDeps, listDeliveryHosts } from './list-delivery-hosts.ts'
import { deliveryView, notQueuedYet } from './outbox-view.ts'

interface OutboxEndpointDeps extends ListDeliveriesDeps, ListHostsDeps, ListHistoryDeps {
  readonly ownServer: () => string
}

export function outboxEndpoints(deps: OutboxEndpointDeps): Endpoint[] {
  return [
    bind(listDeliveriesContract, async ({ tenant, caller, params, query }) => {
      const { limit = 20, offset = 0 } = query
      const page = await listDeliveries(deps, { tenant, caller, ...params, limit, offset })
      const items = page.jobs.map((job) => deliveryView(job, deps.ownServer()))
      return { items: page.isUnfinished ? [...items, notQueuedYet] : items, total: page.total, offset, limit }
    }),
    bind(listHostsContract, ({ query }) => listDeliveryHosts(deps, query)),
    bind(listOutbox, async ({ tenant, caller, query }) => ({
      items: await listHistory(deps, { tenant, caller, ...query }),
    })),
  ]
}
