import {
  createApiKey as createContract,
  deleteApiKey as deleteContract,
  getApiKey as getContract,
  listApiKeys as listContract,
  updateApiKey as updateContract,
} from '@kith/protocol'
import { bind, type Endpoint } from '#infra/http/index.ts'
import {
  type ApiKeyDeps,
  createApiKey,
  deleteApiKey,
  getApiKey,
  listApiKeys,
  updateApiKey,
} from './api-keys.ts'

export function apiKeyEndpoints(deps: ApiKeyDeps): Endpoint[] {
  return [
    bind(listContract, ({ tenant, caller }) => listApiKeys(deps, { tenant, caller })),
    bind(createContract, ({ tenant, caller, body, ip, userAgent }) =>
      createApiKey(deps, { tenant, caller, ...body, device: { ip, userAgent } }),
    ),
    bind(getContract, ({ tenant, caller, params }) =>
      getApiKey(deps, { tenant, caller, keyId: params.keyId }),
    ),
    bind(updateContract, ({ tenant, caller, params, body, ip }) =>
      updateApiKey(deps, { tenant, caller, keyId: params.keyId, ip, ...body }),
    ),
    bind(deleteContract, async ({ tenant, caller, params, ip }) => {
      await deleteApiKey(deps, { tenant, caller, keyId: params.keyId, ip })
      return 'ok' as const
    }),
  ]
}
