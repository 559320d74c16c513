import {
  getVapidKey as getVapidKeyContract,
  subscribePush as subscribeContract,
  unsubscribePush as unsubscribeContract,
} from '@kith/protocol'
import { bind, type Endpoint, Reshaped } from '#infra/http/index.ts'
import { getVapidKey, type VapidKeyDeps } from './get-vapid-key.ts'
import { type SubscribeDeps, subscribePush, unsubscribePush } from './subscribe-push.ts'

export function pushEndpoints(deps: VapidKeyDeps & SubscribeDeps): Endpoint[] {
  return [
    bind(getVapidKeyContract, async ({ tenant }) => {
      const publicKey = await getVapidKey(deps, tenant)
      return { publicKey, vapidPublicKey: publicKey }
    }),
    bind(subscribeContract, async ({ tenant, caller, body }) => {
      const { subscriptionId: id, isNew } = await subscribePush(deps, { tenant, caller, ...body })
      return new Reshaped({ id }, { status: isNew ? 201 : 200 })
    }),
    bind(unsubscribeContract, ({ tenant, caller, params }) =>
      unsubscribePush(deps, { tenant, caller, subscriptionId: params.id }),
    ),
  ]
}
