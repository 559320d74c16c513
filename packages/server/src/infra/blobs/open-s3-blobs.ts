import type { Clock } from '#lib/clock.ts'
import type { BlobStore } from './blob-store.ts'
import type { S3BucketOptions } from './s3-bucket.ts'
import { readTrouble, type S3Trouble } from './s3-failure.ts'
import { S3Layout } from './s3-layout.ts'
import { StagingFolder } from './staging-folder.ts'

export interface S3BlobsOptions extends S3BucketOptions {
  /** Of this process and others of the same machine; made when it is not there. */
  readonly stagingDir: string
  readonly clock: Clock
  /** What staged bytes leave free on the disk of this machine; everything may be taken when absent. */
  readonly keepFreeBytes?: (() => Promise<number>) | undefined
}

// The library takes memory and a third of a second: only who uses it pays.
const importBucket = () => import('./s3-bucket.ts')

/** Blobs as objects of an S3 bucket. It is not asked whether it is there: a server starts while its store is down. */
export async function openS3Blobs(options: S3BlobsOptions): Promise<BlobStore> {
  const [{ S3Bucket }, { S3Blobs }] = await Promise.all([importBucket(), import('./s3-blobs.ts')])
  const { stagingDir: dir, clock, logger, location, keepFreeBytes } = options
  const staging = await StagingFolder.open({ dir, clock, logger, keepFreeBytes })
  return new S3Blobs({
    bucket: new S3Bucket(options),
    layout: new S3Layout(location.prefix),
    staging,
    clock,
    hasSignedUrls: location.redirects === 'public',
  })
}

/** Why the bucket cannot be used; undefined when it answers to these keys. It writes nothing. */
export async function findS3Trouble(options: S3BucketOptions): Promise<S3Trouble | undefined> {
  const { S3Bucket } = await importBucket()
  return await new S3Bucket(options).check().then(
    () => undefined,
    (error: unknown) => readTrouble(error),
  )
}
