import type { ComponentType } from 'preact'
import { ownIdTag } from '#platform/own-identity.ts'
import { queries } from '#platform/query.ts'

/** Who asks to connect. */
export async function loadRequestsAside(): Promise<ComponentType> {
  const [{ RequestsAside }, { connectionRequests }] = await Promise.all([
    import('./requests-aside.tsx'),
    import('./people-query.ts'),
  ])
  await queries.prefetchQuery(connectionRequests(ownIdTag()))
  return RequestsAside
}

/** Who wrote a post; of a comment, who wrote what it is about, since that stands on its screen. */
export async function loadAuthorAside(actionId: string): Promise<ComponentType> {
  const [{ AuthorAside }, { profileOf }, { postQuery }] = await Promise.all([
    import('./author-aside.tsx'),
    import('./people-query.ts'),
    import('./load-feed.ts').then(({ loadFeed }) => loadFeed()),
  ])
  const named = await queries.fetchQuery(postQuery(actionId))
  const rootId = named.type === 'CMNT' ? (named.rootId ?? named.parentId) : undefined
  const root = rootId === undefined ? named : await queries.fetchQuery(postQuery(rootId))
  const idTag = root.issuerTag
  await queries.prefetchQuery(profileOf(idTag))
  return () => <AuthorAside idTag={idTag} />
}
