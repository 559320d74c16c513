import type { ComponentType } from 'preact'
import { queries } from '#platform/query.ts'

/** One's communities. */
export async function loadCommunitiesAside(): Promise<ComponentType> {
  const [{ CommunitiesAside }, { ofMine }] = await Promise.all([
    import('./communities-aside.tsx'),
    import('./own-communities.ts'),
  ])
  await queries.prefetchInfiniteQuery(ofMine)
  return CommunitiesAside
}
