import { CreateBucketCommand, S3Client, S3ServiceException } from '@aws-sdk/client-s3'
import { beforeAll, describe } from 'vitest'
import { readConfig, type S3Credentials, type S3Location } from '#infra/config/index.ts'
import { skipSuite } from './skip-suite.ts'
import { testRun } from './test-run.ts'

export interface RealBucket {
  readonly blobStore: S3Location
  readonly s3Credentials: S3Credentials
}

/** Runs a suite on a bucket in memory, which it makes itself, and in the run of services on the one at TEST_S3_URL. */
export function eachBucket(name: string, suite: (real: RealBucket | undefined) => void): void {
  if (testRun !== 'services') describe(`${name} (in memory)`, () => suite(undefined))
  if (testRun === 'local') return
  const url = process.env.TEST_S3_URL
  if (url === undefined) {
    skipSuite(`${name} (TEST_S3_URL)`, 'needs an S3 server: name it in TEST_S3_URL')
    return
  }
  const real = realBucket(url)
  describe(`${name} (TEST_S3_URL)`, () => {
    beforeAll(() => makeBucket(real))
    suite(real)
  })
}

/** What TEST_S3_URL and the variables of the credentials name. */
function realBucket(url: string): RealBucket {
  const { blobStore, s3Credentials } = readConfig({ ...process.env, BLOB_STORE: url }, {})
  if (blobStore.kind !== 's3' || !s3Credentials) throw new Error('TEST_S3_URL must begin with s3:')
  return { blobStore, s3Credentials }
}

/** A server that was made for the tests has none yet. */
async function makeBucket({ blobStore, s3Credentials }: RealBucket): Promise<void> {
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
