import { CreateBucketCommand, S3Client, S3ServiceException } from '@aws-sdk/client-s3'
import { readConfig, type S3Credentials, type S3Location } from '#infra/config/index.ts'

interface RealBucket {
  readonly blobStore: S3Location
  readonly s3Credentials: S3Credentials
}

/** What TEST_S3_URL and the variables of the credentials name. */
export function realBucket(url: string): RealBucket {
  const { blobStore, s3Credentials } = readConfig({ ...process.env, BLOB_STORE: url }, {})
  if (blobStore.kind !== 's3' || !s3Credentials) throw new Error('TEST_S3_URL must begin with s3:')
  return { blobStore, s3Credentials }
}

/** Makes the bucket unless it is there. */
export async function makeBucket({ blobStore, s3Credentials }: RealBucket): Promise<void> {
  const { bucket, region, endpoint, pathStyle } = blobStore
  const { accessKeyId, secretAccessKey } = s3Credentials
  const client = new S3Client({
    region,
    ...(endpoint === undefined ? {} : { endpoint }),
    forcePathStyle: pathStyle,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    credentials: { accessKeyId, secretAccessKey: secretAccessKey.reveal() },
  })
  try {
    await client.send(new CreateBucketCommand({ Bucket: bucket }))
  } catch (error) {
    if (!(error instanceof S3ServiceException) || !/^BucketAlready/.test(error.name)) throw error
  } finally {
    client.destroy()
  }
}
