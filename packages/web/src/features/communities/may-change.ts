import type { CommunityRole, FileView } from '@kith/protocol'
import { ownIdTag } from '#platform/own-identity.ts'
import { isAtLeast } from './communities-query.ts'

/** Members change what they have put into a community themselves, moderators everything. */
export function mayChange({ owner }: FileView, role: CommunityRole | undefined): boolean {
  return isAtLeast(role, owner?.idTag === ownIdTag() ? 'contributor' : 'moderator')
}
