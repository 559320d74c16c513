import { listApiKeys } from '@kith/protocol'
import { queryOptions } from '@tanstack/preact-query'
import { client } from '#platform/client.ts'

export const keysQuery = queryOptions({
  queryKey: ['settings', 'api-keys'],
  queryFn: async ({ signal }) => (await client.call(listApiKeys, {}, { signal })).data,
})
