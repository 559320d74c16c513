import {
  type Action,
  type CommunityRole,
  listActions,
  listProfiles,
  type Profile,
  roleLevel,
} from '@kith/protocol'
import { infiniteQueryOptions, queryOptions } from '@tanstack/preact-query'
import { loadFeed } from '#features/people/screens.ts'
import { client } from '#platform/client.ts'
import { queries } from '#platform/query.ts'
import { communitiesKey, postsKey } from './communities-keys.ts'

/** The invitations into communities that wait for an answer. */
export const invitations = queryOptions({
  queryKey: [...communitiesKey, 'invitations'],
  queryFn: async ({ signal }) => {
    const query = { type: ['INVT'] as const, status: ['C'] as const, limit: 50 }
    return (await client.call(listActions, { query }, { signal })).data as readonly Action[]
  },
})

/** The role of the owner in a community, as its server says. */
export function roleIn(idTag: string, ownTag: string) {
  return queryOptions({
    queryKey: [...communitiesKey, idTag, 'role'],
    queryFn: async ({ signal }): Promise<CommunityRole> => {
      const { data } = await client.at(idTag).call(listProfiles, { query: { idTag: ownTag } }, { signal })
      return (data[0]?.role as CommunityRole | undefined) ?? 'public'
    },
  })
}

/** Has somebody with this role at least the other one? */
export function isAtLeast(role: CommunityRole | undefined, least: CommunityRole): boolean {
  return role !== undefined && roleLevel(role) >= roleLevel(least)
}

/** The members of a community, in the order of their identities, page by page. */
export function membersOf(
  idTag: string,
  { role, q }: { readonly role?: CommunityRole; readonly q?: string },
) {
  return infiniteQueryOptions({
    queryKey: [...communitiesKey, idTag, 'members', role ?? '', q ?? ''],
    queryFn: async ({ pageParam, signal }) => {
      const narrowed = { ...(role ? { role } : {}), ...(q ? { q } : {}) }
      const query = {
        ...narrowed,
        community: idTag,
        limit: pageParam === '' ? 50 : 200,
        ...(pageParam === '' ? {} : { cursor: pageParam }),
      }
      const { data, cursorPagination } = await client.at(idTag).call(listProfiles, { query }, { signal })
      return { members: data as readonly Profile[], next: cursorPagination?.nextCursor ?? undefined }
    },
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
  })
}

/** Those who lead a community: two are enough to know that one may go. */
export function leadersOf(idTag: string) {
  return queryOptions({
    queryKey: [...communitiesKey, idTag, 'leaders'],
    queryFn: async ({ signal }) => {
      const query = { community: idTag, role: 'leader', limit: 2 } as const
      return (await client.at(idTag).call(listProfiles, { query }, { signal })).data
    },
    staleTime: 0,
  })
}

// More communities nobody leads; each is asked for the role.
const ledAtMost = 20

/** The communities in which the owner decides who joins. */
export function ledCommunities(ownTag: string) {
  return queryOptions({
    queryKey: [...communitiesKey, 'led'],
    queryFn: async ({ signal }): Promise<readonly Profile[]> => {
      const query = { type: 'community', connected: 'connected', limit: ledAtMost } as const
      const { data } = await client.call(listProfiles, { query }, { signal })
      const roles = data.map(({ idTag }) => queries.fetchQuery({ ...roleIn(idTag, ownTag), retry: false }))
      const known = await Promise.allSettled(roles)
      const isLed = (at: number) => {
        const role = known[at]
        return role?.status === 'fulfilled' && isAtLeast(role.value, 'moderator')
      }
      return (data as readonly Profile[]).filter((_, at) => isLed(at))
    },
  })
}

/** Who asks to join a community. */
export function joinRequests(idTag: string) {
  return queryOptions({
    queryKey: [...communitiesKey, idTag, 'requests'],
    queryFn: async ({ signal }) => {
      const query = { type: ['CONN'] as const, status: ['C'] as const, audience: idTag, limit: 50 }
      const { data } = await client.at(idTag).call(listActions, { query }, { signal })
      return data.filter(({ subType }) => subType === undefined) as readonly Action[]
    },
  })
}

/** What was written to a community: what came home, or what its server shows a stranger. */
export function postsTo(idTag: string, place: 'here' | 'there') {
  return infiniteQueryOptions({
    queryKey: [...postsKey(idTag), place],
    queryFn: async ({ pageParam, signal }) => {
      const cursor = pageParam === '' ? {} : { cursor: pageParam }
      const of = { type: ['POST', 'SHRE'] as const, status: ['A', 'N'] as const, audience: idTag }
      const host = place === 'here' ? client : client.at(idTag)
      const query = { ...of, limit: 20, ...cursor }
      const asked = host.call(listActions, { query }, { signal })
      const [{ data, cursorPagination }, feed] = await Promise.all([asked, place === 'here' && loadFeed()])
      if (feed) await feed.keepPosts(data, signal)
      return { posts: data as readonly Action[], next: cursorPagination?.nextCursor ?? undefined }
    },
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
  })
}
