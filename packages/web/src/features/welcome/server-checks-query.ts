import { getEmail, getServerChecks } from '@kith/protocol'
import { queryOptions, useQuery } from '@tanstack/preact-query'
import { client } from '#platform/client.ts'
import { queries } from '#platform/query.ts'

const checksQuery = queryOptions({
  queryKey: ['welcome', 'checks'],
  queryFn: async ({ signal }) => (await client.call(getServerChecks, {}, { signal })).data,
  // What was found changes with what is done elsewhere.
  staleTime: 60_000,
})

/** What an administrator should know of the server. */
export function useChecks(isAdmin: boolean) {
  return useQuery({ ...checksQuery, enabled: isAdmin })
}

export async function lookAgain(): Promise<void> {
  await queries.invalidateQueries({ queryKey: checksQuery.queryKey })
}

/** The address to which a mail for trial goes, and whether one has arrived there. */
export const emailQuery = queryOptions({
  queryKey: ['settings', 'email'],
  queryFn: async ({ signal }) => (await client.call(getEmail, {}, { signal })).data,
  // It is confirmed elsewhere.
  staleTime: 0,
})
