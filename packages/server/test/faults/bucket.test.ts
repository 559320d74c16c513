import { createHash, randomBytes } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { getFileDescriptor, getUsage, uploadFile } from '@kith/protocol'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { S3Server } from '#harness/s3-server.ts'
import { TestServer } from '#harness/test-server.ts'

const baseTag = 'home.localhost'
const photo = join(import.meta.dirname, '../fixtures/images/photo.jpg')
const down = { status: 500, code: 'InternalError' }

let bucket: S3Server
let server: TestServer
let client: Awaited<ReturnType<TestServer['as']>>

beforeAll(async () => {
  bucket = await S3Server.start()
  server = await TestServer.start({ env: bucket.environment })
  client = await server.as(baseTag)
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  await bucket[Symbol.asyncDispose]()
})
beforeEach(() => {
  bucket.fault = () => undefined
})

async function send(content: Uint8Array<ArrayBuffer> | string, type = 'text/plain'): Promise<string> {
  const { data } = await client.upload(uploadFile, {
    params: { preset: type === 'text/plain' ? 'raw' : 'default', fileName: 'file' },
    query: { visibility: 'P' },
    body: new Blob([content], { type }),
  })
  return data.fileId
}
const get = (path: string, headers: Record<string, string> = {}) =>
  server.request(baseTag, `/api/files/${path}`, { headers })
const usage = async () => (await client.call(getUsage)).data
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

describe('A server with its blobs in a bucket', () => {
  test('serves them whole and in parts, and keeps none on its disk', async () => {
    const content = randomBytes(9_000_000)
    const fileId = await send(content)
    expect(sha256(await (await get(fileId)).bytes())).toBe(sha256(content))
    const part = await get(fileId, { range: 'bytes=100-199' })
    expect([part.status, part.headers.get('content-range')]).toEqual([206, 'bytes 100-199/9000000'])
    expect(Buffer.from(await part.bytes()).equals(content.subarray(100, 200))).toBe(true)
    expect(bucket.requests.at(-1)).toMatchObject({ method: 'GET', range: 'bytes=100-199' })
    const { dataDir } = server.running.services.config
    expect(await readdir(join(dataDir, 'staging'))).toEqual([])
    expect(await readdir(dataDir)).not.toContain('blobs')
  })

  test('makes the variants of a picture', async () => {
    const fileId = await send(await readFile(photo), 'image/jpeg')
    await server.settle()
    const { data } = await client.call(getFileDescriptor, { params: { fileId } })
    expect(data.variants.map(({ id }) => id)).toContain('tn')
    const thumbnail = await get(`${fileId}?variant=tn`)
    expect([thumbnail.status, thumbnail.headers.get('content-type')]).toEqual([200, 'image/webp'])
  })
})

describe('When the bucket is down', () => {
  test('an upload is 503, and neither a file nor its quota is taken', async () => {
    const before = await usage()
    bucket.fault = () => down
    await expect(send('nobody keeps this')).rejects.toMatchObject({ status: 503, code: 'E-UNAVAILABLE' })
    expect(await usage()).toEqual(before)
    bucket.fault = () => undefined
    await send('now it is kept')
    expect((await usage()).files).toBe(before.files + 1)
  })

  test('a download is 503 with the envelope, and what needs no bytes is answered', async () => {
    const fileId = await send('hello')
    bucket.fault = () => down
    const answer = await get(fileId)
    expect(answer.status).toBe(503)
    expect(await answer.json()).toMatchObject({ error: { code: 'E-UNAVAILABLE' } })
    expect(answer.headers.get('retry-after')).toBe('5')
    const etag = `"${sha256(Buffer.from('hello'))}"`
    expect((await get(fileId, { 'if-none-match': etag })).status).toBe(304)
    expect((await server.request(baseTag, '/healthz')).status).toBe(200)
  })

  test('in the middle of a download, the reader gets the rest from the next answer', async () => {
    const content = randomBytes(500_000)
    const fileId = await send(content)
    bucket.fault = () => ({ breakAfterBytes: 200_000 })
    expect(sha256(await (await get(fileId)).bytes())).toBe(sha256(content))
  })

  test('for good in the middle of a download, the reader sees that it is cut off', async () => {
    const fileId = await send(randomBytes(500_000))
    bucket.fault = ({ range }) => (range === undefined ? { breakAfterBytes: 200_000 } : down)
    const whole = get(fileId).then(async (answer) => {
      const bytes = await answer.bytes()
      // It may break before anything was sent on: then there is time to say so.
      if (!answer.ok) throw new Error(`HTTP ${answer.status}`)
      return bytes
    })
    await expect(whole).rejects.toThrow()
  })

  test('variants wait, and are made when it is back', async () => {
    bucket.fault = ({ method }) => (method === 'GET' ? down : undefined)
    const fileId = await send(await readFile(photo), 'image/jpeg')
    await server.settle()
    bucket.fault = () => undefined
    server.clock.advance(3_600_000)
    await server.settle()
    expect((await get(`${fileId}?variant=tn`)).headers.get('content-type')).toBe('image/webp')
  })
})
