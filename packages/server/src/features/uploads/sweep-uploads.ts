import { longestUploadSecs } from '#features/files/index.ts'
import { serverTenant } from '#infra/db/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { dropUpload } from './end-upload.ts'
import type { UploadReadDeps } from './get-upload.ts'
import { listExpiredUploads, listTenantsWithExpired } from './upload-store.ts'

const uploadsPerBatch = 200
// A file that has not grown for so long has no upload that could still be continued.
const lostGraceMs = (longestUploadSecs + 3600) * 1000

/** Ends what nobody continued. Does the work of `sweepUploadsJob`. */
export async function sweepUploads(deps: UploadReadDeps): Promise<void> {
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
  await partials.sweep(lostGraceMs)
}
