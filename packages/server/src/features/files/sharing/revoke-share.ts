import type { FileId, IdTag } from '@kith/protocol'
import type { Identified, Tenant } from '#infra/caller/index.ts'
import { Failure } from '#lib/failure.ts'
import { writeLevel } from '../access/file-viewer.ts'
import { getFile, getFileWithin, type ReadDeps } from '../access/read-file.ts'
import type { AnnounceDeps } from './announce-share.ts'
import { type EndDeps, removeShares } from './end-shares.ts'
import { reviewAtOnce } from './review-shares.ts'
import { findShare } from './share-store.ts'

export interface RevokeShareDeps extends ReadDeps, AnnounceDeps, EndDeps {
  readonly clock: ReadDeps['clock']
}

interface Revocation {
  readonly tenant: Tenant
  readonly caller: Identified
  readonly fileId: FileId
  readonly shareId: number
}

/** Ends a share, what its subject has given on by it, and tells the subject. */
export async function revokeShare(deps: RevokeShareDeps, revocation: Revocation): Promise<void> {
  const { tenant, caller, fileId, shareId } = revocation
  await getFile(deps, revocation, writeLevel)
  const share = await findShare(deps.db.reader(tenant.tenantId), fileId, shareId)
  if (!share) throw new Failure('E-NOTFOUND')
  const announce =
    share.subjectType === 'U'
      ? await deps.prepareFileShare({
          tenant,
          caller,
          audienceTag: share.subjectId as IdTag,
          fileId,
          grant: 'withdrawn',
        })
      : undefined
  await deps.db.transact(tenant.tenantId, async (tx) => {
    await getFileWithin(tx, deps, revocation, writeLevel)
    const current = await findShare(tx, fileId, shareId)
    if (!current) throw new Failure('E-NOTFOUND')
    await reviewAtOnce(deps, tx, tenant, await removeShares(deps, tx, [current]))
    await announce?.(tx)
  })
}
