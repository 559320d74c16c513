import type { ComponentType } from 'preact'
import { queries } from '#platform/query.ts'

/** What is planned or begun. */
export async function loadDraftsAside(): Promise<ComponentType> {
  const [{ DraftsAside }, { draftsOfServer }] = await Promise.all([
    import('./drafts-aside.tsx'),
    import('./use-drafts.ts'),
  ])
  await queries.prefetchQuery(draftsOfServer)
  return DraftsAside
}
