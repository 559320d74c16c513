import { getVapidKey as getVapidKeyContract } from '@kith/protocol'
import { bind, type Endpoint } from '#infra/http/index.ts'
import { getVapidKey, type VapidKeyDeps } from './get-vapid-key.ts'

export function pushEndpoints(deps: VapidKeyDeps): Endpoint[] {
  return [
    bind(getVapidKeyContract, async ({ tenant }) => {
      const publicKey = await getVapidKey(deps, tenant)
      return { publicKey, vapidPublicKey: publicKey }
    }),
  ]
}
