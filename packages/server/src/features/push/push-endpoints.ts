import {
  getVapidKey as getVapidKeyContract,
  subscribePush as subscribeContract,
  unsubscribePush as unsubscribeContract,
} from '@kith/protocol'
import { bind, type Endpoint } from '#infra/http/index.ts'
import { getVapidKey, type VapidKeyDeps } from './get-vapid-key.ts'
import { type SubscribeDeps, subscribePush, unsubscribePush } from './subscribe-push.ts'

export function pushEndpoints(deps: VapidKeyDeps & SubscribeDeps): Endpoint[] {
  return [
    bind(getVapidKeyContract, async ({ tenant }) => {
      const publicKey = await getVapidKey(deps, tenant)
      return { publicKey, vapidPublicKey: publicKey }
    }),
    bind(subscribeContract, async ({ tenant, caller, body }) => ({
      id: await subscribePush(deps, { tenant, caller, ...body }),
    })),
    bind(unsubscribeContract, ({ tenant, caller, params }) =>
      unsubscribePush(deps, { tenant, caller, subscriptionId: params.id }),
    ),
  ]
}
