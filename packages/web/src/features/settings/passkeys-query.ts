import { listPasskeys } from '@kith/protocol'
import { queryOptions } from '@tanstack/preact-query'
import { client } from '#platform/client.ts'

export const passkeysQuery = queryOptions({
  queryKey: ['settings', 'passkeys'],
  queryFn: async ({ signal }) => (await client.call(listPasskeys, {}, { signal })).data,
})
