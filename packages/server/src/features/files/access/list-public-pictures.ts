import { parseFileId } from '@kith/protocol'
import { guest, type Tenant } from '#infra/caller/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { listReadablePictures } from './file-access-store.ts'
import { findFileViewer } from './find-file-viewer.ts'
import type { ReadDeps } from './read-file.ts'

/** The names of those of these files that are pictures which everybody may see, by file id. One query, however
 * many there are. */
export async function listPublicPictures(
  { db, clock }: ReadDeps,
  tenant: Tenant,
  fileIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const ids = [...new Set(fileIds)].map(parseFileId).filter((fileId) => fileId !== undefined)
  if (ids.length === 0) return new Map()
  const reader = db.reader(tenant.tenantId)
  const now = nowSecs(clock)
  const who = await findFileViewer(reader, { tenant, caller: guest, now })
  return await listReadablePictures(reader, who, { fileIds: ids, now })
}
