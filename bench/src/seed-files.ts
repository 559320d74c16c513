import { createHash, randomBytes } from 'node:crypto'
import { type FileId, fileIdOf } from '@kith/protocol'
import { idTag } from './kith.ts'
import type { baseTenantId } from './seed.ts'
import {
  type BlobHash,
  blobOf,
  commitTo,
  countFiles,
  type Database,
  insertFile,
  insertVariants,
  type NewFile,
  type StoredVariant,
  useBlobs,
} from './server-modules.ts'

type TenantId = Awaited<ReturnType<typeof baseTenantId>>

const filesPerTransaction = 500
const photoBytes = 3_000_000

/** A folder of photos with all their variants; only the rows, without bytes. Answers the folder. */
export async function seedFolder(
  db: Database,
  tenantId: TenantId,
  { name, photos }: { readonly name: string; readonly photos: number },
): Promise<FileId> {
  const fileId = fileIdOf('FLDR', randomBytes(32).toString('base64url'))
  const folder = { fileTp: 'FLDR', contentType: 'inode/directory', size: 0, content: undefined } as const
  await db.transact(tenantId, async (tx) => {
    await insertFile(tx, { ...common, ...folder, fileId, fileName: name, parentId: undefined })
    await countFiles(tx, 1)
  })
  for (let from = 0; from < photos; from += filesPerTransaction)
    await db.transact(tenantId, async (tx) => {
      const until = Math.min(photos, from + filesPerTransaction)
      for (let number = from; number < until; number += 1) {
        const photo = { ...photoOf(name, number), parentId: fileId }
        const variants = variantsOf(photo)
        await insertFile(tx, photo)
        await insertVariants(tx, photo.fileId, variants)
        await useBlobs(tx, [{ ...photo.blob, kind: 'pictures' }, ...variants.map(blobOf)])
      }
      await countFiles(tx, until - from)
    })
  return fileId
}

const now = Math.floor(Date.now() / 1000)
const common = {
  status: 'A',
  ownerTag: idTag,
  isCopy: false,
  preset: 'default',
  visibility: null,
  tags: [],
  processingError: undefined,
  createdAt: now,
  modifiedAt: now,
} as const

/** Names, times of making and times of change are in three different orders. */
function photoOf(
  folder: string,
  number: number,
): NewFile & { readonly blob: { hash: BlobHash; size: number } } {
  const hash = hashOf(`${folder} ${number}`)
  const file = { fileTp: 'BLOB', contentType: 'image/jpeg', size: photoBytes } as const
  const times = {
    createdAt: now - ((number * 7919) % 100_000),
    modifiedAt: now - ((number * 104_729) % 100_000),
  }
  const blob = { hash, size: photoBytes }
  return {
    ...common,
    ...file,
    ...times,
    ...commitTo(hash),
    blob,
    fileName: `IMG_${hash.slice(0, 8)}.jpg`,
    parentId: undefined,
  }
}

function variantsOf({
  fileId,
  blob,
}: {
  readonly fileId: FileId
  readonly blob: { readonly hash: BlobHash }
}): StoredVariant[] {
  const made = (
    [
      ['hd', 1920],
      ['sd', 640],
      ['tn', 150],
      ['ic', 64],
    ] as const
  ).map(([variant, width]) => ({
    variant,
    blobHash: hashOf(`${fileId} ${variant}`),
    width,
    height: width,
    size: width * 100,
    format: 'webp',
  }))
  const original = {
    variant: 'orig',
    blobHash: blob.hash,
    width: 4000,
    height: 3000,
    size: photoBytes,
    format: 'jpeg',
  } as const
  return [...made, original]
}

function hashOf(text: string): BlobHash {
  return createHash('sha256').update(text).digest('hex') as BlobHash
}
