import type { FileId } from '@kith/protocol'
import type { BlobHash } from '#infra/blobs/index.ts'
import type { Database, TenantId } from '#infra/db/index.ts'
import type { JobContext } from '#infra/jobs/index.ts'
import type { StoredFile, StoredVariant } from './file.ts'
import { changeStatus, findFile, insertVariants } from './file-store.ts'
import { discardAll, makePictures, type PictureDeps, type Pictures } from './make-pictures.ts'
import { useBlob } from './storage-store.ts'

export interface VariantDeps extends PictureDeps {
  readonly db: Database
}

type Original = StoredFile & { readonly blobHash: BlobHash }

/** Makes the variants of a picture and sets its file to `A`; a picture that cannot be processed stays as uploaded. */
export async function makeVariants(
  deps: VariantDeps,
  { fileId }: { readonly fileId: string },
  context: JobContext,
): Promise<void> {
  const { tenantId } = context
  const file = await startProcessing(deps, tenantId, fileId as FileId)
  if (!file) return
  const made = await process(deps, tenantId, file, context.signal)
  if (made.kind === 'unprocessable') {
    const change = { from: ['P'], to: 'A', processingError: made.reason } as const
    await deps.db.transact(tenantId, (tx) => changeStatus(tx, file.fileId, change))
    return
  }
  try {
    for (const { blob } of made.pictures) await blob.keep()
    await deps.db.transact(tenantId, async (tx) => {
      // A file that was deleted meanwhile takes no variants; its blobs are swept.
      if (!(await changeStatus(tx, file.fileId, { from: ['P'], to: 'A' }))) return
      for (const { blob } of made.pictures) await useBlob(tx, blob)
      const variants = [...made.pictures.map(({ variant }) => variant), originalVariant(file, made.original)]
      await insertVariants(tx, file.fileId, variants)
    })
  } finally {
    await discardAll(made.pictures)
  }
}

async function startProcessing(
  deps: VariantDeps,
  tenantId: TenantId,
  fileId: FileId,
): Promise<Original | undefined> {
  return await deps.db.transact(tenantId, async (tx) => {
    // `P` is where a worker that died left it.
    await changeStatus(tx, fileId, { from: ['M', 'P'], to: 'P' })
    const file = await findFile(tx, fileId)
    return file?.status === 'P' && file.blobHash ? { ...file, blobHash: file.blobHash } : undefined
  })
}

async function process(
  deps: VariantDeps,
  tenantId: TenantId,
  file: Original,
  signal: AbortSignal,
): Promise<Pictures> {
  await using local = await deps.blobs.openLocal(tenantId, file.blobHash)
  if (!local) return { kind: 'unprocessable', reason: 'the original is missing' }
  return await makePictures(deps, tenantId, { path: local.path, preset: 'default', signal })
}

function originalVariant(
  file: Original,
  size: { width: number; height: number; format: string },
): StoredVariant {
  const { width, height, format } = size
  return { variant: 'orig', blobHash: file.blobHash, width, height, size: file.size, format }
}
