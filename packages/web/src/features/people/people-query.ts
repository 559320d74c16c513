import { KithError } from '@kith/client'
import {
  type Action,
  getMe,
  getProfile,
  type listProfiles as ListContract,
  listActions,
  listProfiles,
  type Profile,
  type RequestOf,
} from '@kith/protocol'
import { infiniteQueryOptions, queryOptions } from '@tanstack/preact-query'
import { client } from '#platform/client.ts'
import { isWorthRetrying } from '#platform/query.ts'
import { loadFeed } from './load-feed.ts'
import { listsKey, peopleKey, postsKey, profileKey } from './people-keys.ts'

type ProfileFilter = NonNullable<RequestOf<typeof ListContract>['query']>

// A block leaves the rest as it was, for the day when it is taken back.
const notBlocked = ['Active', 'Trusted', 'Muted'] as const

/** What the list of people can be narrowed to, in the order in which it is offered. */
export const peopleLists = {
  connections: { connected: 'connected', type: 'person', status: notBlocked },
  pending: { connected: 'pending' },
  following: { following: true, type: 'person', status: notBlocked },
  followers: { follower: true, type: 'person', status: notBlocked },
  blocked: { status: ['Blocked', 'Suspended', 'Banned'] },
  muted: { status: ['Muted'] },
} as const satisfies Readonly<Record<string, ProfileFilter>>
export type PeopleList = keyof typeof peopleLists

/** Identities with which something holds, in the order of their identities, page by page. */
export function profileList(filter: ProfileFilter) {
  return infiniteQueryOptions({
    queryKey: [...listsKey, filter],
    queryFn: async ({ pageParam, signal }) => {
      const at = pageParam === '' ? { limit: 50 } : { limit: 200, cursor: pageParam }
      const query = { ...filter, ...at }
      const { data, cursorPagination } = await client.call(listProfiles, { query }, { signal })
      return { profiles: data as readonly Profile[], next: cursorPagination?.nextCursor ?? undefined }
    },
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
  })
}

/** The requests for a connection that wait for an answer of one's own; of one identity, or of all. */
export function connectionRequests(ownTag: string, issuer?: string) {
  return queryOptions({
    queryKey: [...peopleKey, 'requests', issuer ?? ''],
    queryFn: async ({ signal }) => {
      const from = issuer === undefined ? {} : { issuer }
      const query = { type: ['CONN'] as const, status: ['C'] as const, audience: ownTag, limit: 50, ...from }
      const { data } = await client.call(listActions, { query }, { signal })
      return data.filter(({ subType }) => subType === undefined)
    },
  })
}

/** A profile with what holds with it; of an identity that is not known here its server is asked. */
export function profileOf(idTag: string) {
  return queryOptions({
    queryKey: profileKey(idTag),
    queryFn: async ({ signal }) =>
      (await client.call(getProfile, { params: { idTag } }, { signal })).data as Profile,
    // A server that does not answer is seldom back within seconds, and somebody waits here.
    retry: (failures, error) =>
      failures < 3 &&
      isWorthRetrying(error) &&
      !(error instanceof KithError && error.code === 'E-UNAVAILABLE'),
  })
}

/** One's own profile. */
export const ownProfile = queryOptions({
  queryKey: [...peopleKey, 'me'],
  queryFn: async ({ signal }) => (await client.call(getMe, undefined, { signal })).data,
})

const postTypes = ['POST', 'REPOST', 'SHRE'] as const

/** The posts of an identity: those that are here, or those that its own server shows. */
export function postsOf(idTag: string, place: 'here' | 'there') {
  return infiniteQueryOptions({
    queryKey: [...postsKey(idTag), place],
    queryFn: async ({ pageParam, signal }) => {
      const cursor = pageParam === '' ? {} : { cursor: pageParam }
      const query = { type: postTypes, status: ['A', 'N'] as const, issuer: idTag, limit: 20, ...cursor }
      const host = place === 'here' ? client : client.at(idTag)
      const asked = host.call(listActions, { query }, { signal })
      const [{ data, cursorPagination }, feed] = await Promise.all([asked, place === 'here' && loadFeed()])
      if (feed) await feed.keepPosts(data, signal)
      return { posts: data as readonly Action[], next: cursorPagination?.nextCursor ?? undefined }
    },
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
  })
}

/** The files that an identity shares with the owner, newest first. */
export function filesFrom(idTag: string, ownTag: string) {
  return queryOptions({
    queryKey: [...peopleKey, 'files', idTag],
    queryFn: async ({ signal }) => {
      const query = { type: ['FSHR'] as const, status: ['A', 'N', 'C'] as const, issuer: idTag, limit: 50 }
      const { data } = await client.call(listActions, { query }, { signal })
      return data.filter(({ audienceTag, subType }) => audienceTag === ownTag && subType === undefined)
    },
  })
}
