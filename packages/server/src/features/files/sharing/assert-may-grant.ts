import type { IdTag, SharePermission, ShareSubject } from '@kith/protocol'
import { Failure } from '#lib/failure.ts'
import type { AccessibleFile } from '../access/file-access-store.ts'
import { levelOf, type Share } from './share.ts'

/** What somebody wants to give, whether by a share or by an action. */
interface GrantRequest {
  readonly granterTag: IdTag | undefined
  readonly subjectType: ShareSubject
  readonly subjectId: string
  readonly permission: SharePermission
  /** The share that the subject has now. */
  readonly known: Share | undefined
  /** Unix seconds. */
  readonly now: number
}

/** Nobody gives more than they have, nor changes what was given to themselves or what is more than theirs to give. */
export function assertMayGrant(gift: GrantRequest, { file, level }: AccessibleFile): void {
  const { granterTag, subjectType, subjectId, permission, known, now } = gift
  if (levelOf(permission) > level) throw new Failure('E-AUTH-FORBIDDEN')
  if (subjectType === 'U' && subjectId === granterTag) throw new Failure('E-AUTH-FORBIDDEN')
  const isLive = known !== undefined && (known.expiresAt ?? Number.POSITIVE_INFINITY) > now
  if (isLive && levelOf(known.permission) > level) throw new Failure('E-AUTH-FORBIDDEN')
  if (file.status === 'D') throw new Failure('E-STATE', { message: 'This file is in the trash.' })
  // Its bytes are here, but the right to give them on is its owner's.
  if (file.isCopy) throw new Failure('E-AUTH-FORBIDDEN')
}
