import { findPublicPost, listPublicPosts } from '#features/actions/index.ts'
import { listPublicPictures } from '#features/files/index.ts'
import type { PublicContent } from '#features/pages/index.ts'
import { getPublicProfile } from '#features/profiles/index.ts'
import type { Services } from './services.ts'

/** What the public pages show. */
export function publicContentOf(deps: Pick<Services, 'db' | 'clock'>): PublicContent {
  return {
    findOwner: ({ tenantId, idTag }) => getPublicProfile(deps.db.reader(tenantId), idTag),
    listPosts: (tenant, page) => listPublicPosts(deps, { tenant, ...page }),
    findPost: (tenant, actionId) => findPublicPost(deps, { tenant, actionId }),
    listPictures: (tenant, fileIds) => listPublicPictures(deps, tenant, fileIds),
  }
}
