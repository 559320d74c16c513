import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { uploadFile } from '@kith/protocol'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CommandLine } from '#harness/command-line.ts'
import { eachBucket } from '#harness/real-bucket.ts'
import { S3Server } from '#harness/s3-server.ts'
import { TestServer } from '#harness/test-server.ts'

const baseTag = 'home.localhost'

/** A place of its own in the bucket at TEST_S3_URL. */
function placeInBucket(): Record<string, string> {
  const { S3_ACCESS_KEY_ID = '', S3_SECRET_ACCESS_KEY = '', TEST_S3_URL = '' } = process.env
  const place = new URL(TEST_S3_URL)
  place.pathname = `${place.pathname.replace(/\/$/, '')}/${randomUUID()}`
  return { BLOB_STORE: place.href, S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY }
}

eachBucket('A server whose blobs move to a bucket and back', (real) => {
  let bucket: S3Server
  let environment: Record<string, string>
  let line: CommandLine
  let server: TestServer
  beforeAll(async () => {
    bucket = await S3Server.start()
    environment = real === undefined ? bucket.environment : placeInBucket()
    line = await CommandLine.open()
    server = await TestServer.start({ dataDir: line.dataDir })
  })
  afterAll(async () => {
    await server[Symbol.asyncDispose]()
    await line[Symbol.asyncDispose]()
    await bucket[Symbol.asyncDispose]()
  })

  async function send(content: string): Promise<string> {
    const client = await server.as(baseTag)
    const { data } = await client.upload(uploadFile, {
      params: { preset: 'raw', fileName: 'note.txt' },
      query: { visibility: 'P' },
      body: new Blob([content], { type: 'text/plain' }),
    })
    await server.settle()
    return data.fileId
  }
  const read = async (fileId: string) => (await server.request(baseTag, `/api/files/${fileId}`)).text()

  async function restart(env: Readonly<Record<string, string>>): Promise<void> {
    await server.stop()
    server = await TestServer.start({ dataDir: line.dataDir, env })
  }

  test('loses nothing that was uploaded while it served', async () => {
    const there = line.with(environment)
    const toBucket = ['blobs', 'migrate', '--to', environment.BLOB_STORE ?? '']
    // The keys of the bucket are known before the bucket is used.
    const { BLOB_STORE: _, ...keys } = environment
    const here = line.with(keys)

    const early = await send('before the first copy')
    expect(await here.json(...toBucket)).toMatchObject({ copied: { count: 1 }, present: 0 })
    const late = await send('while it was copied')
    await server.stop()
    expect(await here.json(...toBucket)).toMatchObject({ copied: { count: 1 }, present: 1 })
    expect(await here.json(...toBucket)).toMatchObject({ copied: { count: 0 }, present: 2 })
    expect(await there.json('blobs', 'verify', '--deep')).toMatchObject({
      blobs: 2,
      found: { missing: 0, damaged: 0, orphaned: 0 },
    })
    await rm(join(line.dataDir, 'blobs'), { recursive: true })
    await restart(environment)
    expect([await read(early), await read(late)]).toEqual(['before the first copy', 'while it was copied'])

    const last = await send('into the bucket')
    const toDisk = ['blobs', 'migrate', '--to', `file:${join(line.dataDir, 'blobs')}`]
    expect(await there.json(...toDisk)).toMatchObject({ copied: { count: 3 }, present: 0 })
    const latest = await send('while it was copied back')
    expect(await read(early)).toBe('before the first copy')
    await server.stop()
    expect(await there.json(...toDisk)).toMatchObject({ copied: { count: 1 }, present: 3 })
    bucket.objects.clear()
    await restart({})
    expect([await read(last), await read(latest)]).toEqual(['into the bucket', 'while it was copied back'])
    expect(await line.json('blobs', 'verify', '--deep')).toMatchObject({ blobs: 4, found: { missing: 0 } })
  })

  // What is missing, damaged or down can be made so in memory alone.
  if (real) return

  test('is told of bytes that are missing or damaged in the bucket', async () => {
    const { BLOB_STORE: place = '', ...keys } = bucket.environment
    await line.with(keys).json('blobs', 'migrate', '--to', place)
    const [lost = '', other = ''] = bucket.objects.keys()
    bucket.objects.delete(lost)
    const { bytes, modifiedAtMs } = bucket.objects.get(other) ?? { bytes: Buffer.of(), modifiedAtMs: 0 }
    bucket.objects.set(other, { bytes: Buffer.alloc(bytes.length), modifiedAtMs })
    const { exitCode, out } = await line.with(bucket.environment).run(['blobs', 'verify', '--deep', '--json'])
    expect(exitCode).toBe(1)
    expect(JSON.parse(out)).toMatchObject({ found: { missing: 1, damaged: 1, orphaned: 0 } })
  })

  test('says that the bucket is down, and copies nothing', async () => {
    const { BLOB_STORE: place = '', ...keys } = bucket.environment
    bucket.fault = () => ({ status: 503, code: 'SlowDown' })
    const failed = await line.with(keys).fails('blobs', 'migrate', '--to', place)
    bucket.fault = () => undefined
    expect(failed).toMatchObject({ exitCode: 1, code: 'E-UNAVAILABLE' })
    expect(JSON.stringify(failed)).not.toContain('hidden-secret')
  })
})
