import { type RefId, type ShareView, toIso } from '@kith/protocol'
import type { Share } from './share.ts'

/** What a link is, for those who may hand it out. */
export interface Link {
  readonly refId: RefId
  readonly url: string
}

export function shareView(share: Share, link: Link | undefined): ShareView {
  const { shareId, fileId, subjectType, subjectId, permission, expiresAt, createdBy, createdAt } = share
  return {
    id: shareId,
    resourceType: 'F',
    resourceId: fileId,
    subjectType,
    subjectId,
    permission,
    expiresAt: expiresAt === undefined ? null : toIso(expiresAt),
    createdBy,
    createdAt: toIso(createdAt),
    ...link,
  }
}
