import { listProfiles } from '@kith/protocol'
import { useQuery } from '@tanstack/preact-query'
import { client } from '#platform/client.ts'
import { useTexts } from '#ui/use-texts.ts'
import { composeTexts } from './compose-texts.ts'
import { readAudience } from './draft.ts'

// A person is in few communities; more are named by their identity all the same.
const communitiesAtMost = 100

async function count(query: { readonly follower?: true; readonly connected?: 'connected' }): Promise<number> {
  const { pagination } = await client.call(listProfiles, { query: { ...query, limit: 1, offset: 0 } })
  return pagination?.total ?? 0
}

/** How many read what is for connections, and for followers and connections. */
function useCounts() {
  return useQuery({
    queryKey: ['compose', 'counts'],
    queryFn: async () => {
      const connected = 'connected'
      const [connections, followers, both] = await Promise.all([
        count({ connected }),
        count({ follower: true }),
        count({ follower: true, connected }),
      ])
      return { connections, followers: followers + connections - both }
    },
    // The button says a number: it is asked for anew with each post.
    staleTime: 0,
  }).data
}

/** The communities that this account belongs to. */
export function useCommunities() {
  const { data } = useQuery({
    queryKey: ['compose', 'communities'],
    queryFn: async () => {
      const query = { type: 'community', connected: 'connected', limit: communitiesAtMost } as const
      return (await client.call(listProfiles, { query })).data
    },
  })
  return data ?? []
}

/** The audience in words, as the button says it. */
export function useShareLabel(audience: string): string {
  const t = useTexts(composeTexts)
  const counts = useCounts()
  const communities = useCommunities()
  const { visibility, community } = readAudience(audience)
  if (community !== undefined) {
    const name = communities.find(({ idTag }) => idTag === community)?.name || community
    return visibility === 'P' ? t.shareIn(name) : t.shareMembers(name)
  }
  if (visibility === 'P') return t.shareEverybody
  if (visibility === 'V') return t.shareVerified
  return visibility === 'F' ? t.shareFollowers(counts?.followers) : t.shareConnections(counts?.connections)
}
