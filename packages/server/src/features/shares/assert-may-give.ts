import type { IdTag, SharePermission, ShareSubject } from '@kith/protocol'
import { type AccessibleFile, type FileViewer, findAccessibleFile } from '#features/files/index.ts'
import type { Reader } from '#infra/db/index.ts'
import { Failure } from '#lib/failure.ts'
import { levelOf, neededFor, type Share } from './share.ts'
import { listEnds } from './share-store.ts'

/** What somebody wants to give, whether by a share or by an action. */
export interface Gift {
  readonly giverTag: IdTag | undefined
  readonly subjectType: ShareSubject
  readonly subjectId: string
  readonly permission: SharePermission
  /** The share that the subject has now. */
  readonly known: Share | undefined
  /** Unix seconds. */
  readonly now: number
}

/** Nobody gives more than they have, nor changes what was given to themselves or what is more than theirs to give. */
export function assertMayGive(gift: Gift, { file, level }: AccessibleFile): void {
  const { giverTag, subjectType, subjectId, permission, known, now } = gift
  if (levelOf(permission) > level) throw new Failure('E-AUTH-FORBIDDEN')
  if (subjectType === 'U' && subjectId === giverTag) throw new Failure('E-AUTH-FORBIDDEN')
  const isLive = known !== undefined && (known.expiresAt ?? Number.POSITIVE_INFINITY) > now
  if (isLive && levelOf(known.permission) > level) throw new Failure('E-AUTH-FORBIDDEN')
  if (file.status === 'D') throw new Failure('E-STATE', { message: 'This file is in the trash.' })
  // Its bytes are here, but the right to give them on is its owner's.
  if (file.isCopy) throw new Failure('E-AUTH-FORBIDDEN')
}

const never = Number.MAX_SAFE_INTEGER

/** When the right ends by which somebody gives this, Unix seconds; undefined: it does not, as far as is known. */
export async function findRightsEnd(
  reader: Reader,
  giver: FileViewer,
  { fileId, permission, now }: Pick<Share, 'fileId' | 'permission'> & { readonly now: number },
): Promise<number | undefined> {
  const lastsUntil = async (end: number) => {
    const found = await findAccessibleFile(reader, giver, { fileId, now: end - 1 })
    return found !== undefined && found.level >= neededFor(permission)
  }
  if (giver.viewer.idTag === undefined || (await lastsUntil(never))) return undefined
  // With time rights only become fewer: the last end at which this one is still there is its own.
  const ends = await listEnds(reader, giver.viewer.idTag, now)
  let [first, last] = [0, ends.length]
  while (first < last) {
    const middle = Math.floor((first + last) / 2)
    if (await lastsUntil(ends[middle] ?? now)) last = middle
    else first = middle + 1
  }
  return ends[first]
}
