import type { IdTag } from '@kith/protocol'
import type { Tenant } from '#infra/caller/index.ts'
import type { Reader } from '#infra/db/index.ts'
import { findAccessibleFile } from '../access/file-access-store.ts'
import { findViewerNamed } from '../access/find-file-viewer.ts'
import { listGrantSteps } from '../access/grant-steps-store.ts'
import { type Foundation, findLongestWay } from './foundation.ts'
import { earlier, isWithin, neededFor, type Share } from './share.ts'
import { listBaseIds, type NewShare } from './share-store.ts'

type Founded = Pick<Share, 'fileId' | 'permission' | 'createdBy'>

/** By what the maker of a share may give it, for as long as possible. `apartFrom`: a share that does not count for it,
 * nor what rests on that. */
export async function findFoundation(
  reader: Reader,
  tenant: Tenant,
  share: Founded & { readonly now: number; readonly apartFrom: number | undefined },
): Promise<Foundation | undefined> {
  const { fileId, permission, createdBy, now, apartFrom } = share
  const needed = neededFor(permission)
  const maker = await findViewerNamed(reader, tenant, createdBy)
  const byItself = await findAccessibleFile(reader, maker, { fileId, now, basesOf: 0 })
  if (byItself && byItself.level >= needed) return { baseIds: [], expiresAt: undefined }
  return findLongestWay(await listGrantSteps(reader, maker, { fileId, now, apartFrom }), { fileId, needed })
}

/** Whether the maker of a share has what it gives by the shares alone that it rests on. */
export function foundationChecker(reader: Reader, tenant: Tenant, now: number) {
  const makers = new Map<IdTag, ReturnType<typeof findViewerNamed>>()
  return async ({ shareId, fileId, permission, createdBy }: Share): Promise<boolean> => {
    const maker = makers.get(createdBy) ?? findViewerNamed(reader, tenant, createdBy)
    makers.set(createdBy, maker)
    const found = await findAccessibleFile(reader, await maker, { fileId, now, basesOf: shareId })
    return found !== undefined && found.level >= neededFor(permission)
  }
}

/** The share as it can be made: what somebody gives on names what it rests on, and ends no later than that. Undefined:
 * nothing lets them give it. `known`: the share that the subject has by now. */
export async function foundShare(
  reader: Reader,
  tenant: Tenant,
  asked: Omit<NewShare, 'baseIds'>,
  known: Share | undefined,
): Promise<NewShare | undefined> {
  if (!asked.isDerived) return { ...asked, baseIds: [] }
  const now = asked.createdAt
  const isKept = known && !known.isInDoubt && (known.expiresAt ?? Number.POSITIVE_INFINITY) > now
  const kept = isKept ? known : undefined
  const foundation = await findFoundation(reader, tenant, { ...asked, now, apartFrom: known?.shareId })
  // A right that rests on the known share alone does not outlast it.
  const ends = foundation ?? kept
  if (!ends) return undefined
  const made = { ...asked, expiresAt: earlier(asked.expiresAt, ends.expiresAt) }
  // Whoever only narrows what another has given does not become who gives it.
  if (kept && isWithin(made, kept)) {
    const { createdBy, isDerived } = kept
    return { ...made, createdBy, isDerived, baseIds: await listBaseIds(reader, kept.shareId) }
  }
  return foundation && { ...made, baseIds: foundation.baseIds }
}
