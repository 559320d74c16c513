import { listActions, listFiles, listProfiles } from '@kith/protocol'
import { queryOptions } from '@tanstack/preact-query'
import { client } from '#platform/client.ts'

// What fits a screen; more is in the screens of their own.
const limit = 8

/** The identities the account has to do with whose name or idTag holds the text. */
export const peopleWith = (q: string) =>
  queryOptions({
    queryKey: ['search', 'people', q],
    queryFn: async ({ signal }) =>
      (await client.call(listProfiles, { query: { q, limit } }, { signal })).data,
    enabled: q !== '',
    staleTime: 30_000,
  })

/** The posts with these words, newest first. */
export const postsWith = (search: string) =>
  queryOptions({
    queryKey: ['search', 'posts', search],
    queryFn: async ({ signal }) => {
      const query = { search, limit, type: ['POST', 'REPOST', 'SHRE'] as const, status: ['A', 'N'] as const }
      return (await client.call(listActions, { query }, { signal })).data
    },
    enabled: search !== '',
    staleTime: 30_000,
  })

/** The files and folders with this in their name. */
export const filesWith = (search: string) =>
  queryOptions({
    queryKey: ['search', 'files', search],
    queryFn: async ({ signal }) =>
      (await client.call(listFiles, { query: { search, limit } }, { signal })).data,
    enabled: search !== '',
    staleTime: 30_000,
  })
