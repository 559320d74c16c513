import type { TenantId } from '#infra/db/index.ts'
import type { ActiveUploads } from './active-uploads.ts'
import { getUpload, type UploadQuestion, type UploadReadDeps } from './get-upload.ts'
import { deleteReservation } from './reservation-store.ts'
import { partialName, type ResumableUpload } from './upload.ts'
import { deleteUpload } from './upload-store.ts'

/** Gives an upload up. */
export async function endUpload(
  deps: UploadReadDeps & { readonly turns: ActiveUploads },
  question: UploadQuestion,
): Promise<void> {
  const { tenantId } = question.tenant
  await getUpload(deps, question)
  using _turn = await deps.turns.take(partialName(tenantId, question.uploadId))
  await dropUpload(deps, tenantId, await getUpload(deps, question))
}

/** Forgets an upload with its bytes and what was set aside for it. */
export async function dropUpload(
  { db, partials }: Pick<UploadReadDeps, 'db' | 'partials'>,
  tenantId: TenantId,
  { uploadId, reservationId }: Pick<ResumableUpload, 'uploadId' | 'reservationId'>,
): Promise<void> {
  await db.transact(tenantId, async (tx) => {
    await deleteUpload(tx, uploadId)
    await deleteReservation(tx, reservationId)
  })
  await partials.remove(partialName(tenantId, uploadId))
}
