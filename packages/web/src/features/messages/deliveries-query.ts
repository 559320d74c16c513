import { type Action, type DeliveryView, listDeliveries } from '@kith/protocol'
import { queryOptions } from '@tanstack/preact-query'
import { nextLook } from '#lib/delivery-looks.ts'
import { client } from '#platform/client.ts'

/** To which servers an own message has come. */
export function deliveriesOf({ actionId, createdAt }: Pick<Action, 'actionId' | 'createdAt'>) {
  return queryOptions({
    queryKey: ['messages', 'deliveries', actionId],
    queryFn: async ({ signal }) =>
      (await client.call(listDeliveries, { params: { actionId }, query: { limit: 100 } }, { signal })).data,
    refetchInterval: ({ state }) => nextLook({ createdAt }, state.data, state.dataUpdateCount),
  })
}

/** Whether the other server has refused a message. */
export function isRefusal({ state, lastError }: DeliveryView): boolean {
  return state === 'stopped' && lastError === 'HTTP 403'
}
