import type { Tenant } from '#infra/caller/index.ts'
import { serverTenant, type TenantId } from '#infra/db/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { dropUpload } from './end-upload.ts'
import type { UploadReadDeps } from './get-upload.ts'
import { longestUploadSecs } from './reserve-storage.ts'
import { parseUploadMetadata } from './upload-metadata.ts'
import {
  listExpiredUploads,
  listTenantsWithExpired,
  listTenantsWithUnfinished,
  listUnfinishedOfOthers,
} from './upload-store.ts'
import { mayStillUpload } from './uploader.ts'

export interface SweepUploadsDeps extends UploadReadDeps {
  readonly findTenant: (tenantId: TenantId) => Promise<Tenant | undefined>
}

const uploadsPerBatch = 200
// A file that has not grown for so long has no upload that could still be continued.
const lostGraceMs = (longestUploadSecs + 3600) * 1000

/** Ends what nobody continued, and what its uploader could not finish. */
export async function sweepUploads(deps: SweepUploadsDeps): Promise<void> {
  const { db, clock, partials } = deps
  const now = nowSecs(clock)
  for (const tenantId of await listTenantsWithExpired(db.reader(serverTenant), now)) {
    let count = uploadsPerBatch
    while (count === uploadsPerBatch) {
      const expired = await listExpiredUploads(db.reader(tenantId), now, uploadsPerBatch)
      for (const upload of expired) await dropUpload(deps, tenantId, upload)
      count = expired.length
    }
  }
  for (const tenantId of await listTenantsWithUnfinished(db.reader(serverTenant))) {
    const tenant = await deps.findTenant(tenantId)
    if (tenant) await endShutOut(deps, tenant, now)
  }
  await partials.sweep(lostGraceMs)
}

async function endShutOut(deps: SweepUploadsDeps, tenant: Tenant, now: number): Promise<void> {
  const reader = deps.db.reader(tenant.tenantId)
  for (const upload of await listUnfinishedOfOthers(reader, tenant.idTag)) {
    const { parentId } = parseUploadMetadata(upload.metadata)
    if (!(await mayStillUpload(reader, tenant, { uploader: upload.creator, parentId, now })))
      await dropUpload(deps, tenant.tenantId, upload)
  }
}
