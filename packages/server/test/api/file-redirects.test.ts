import { createHash, randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { changeFile, createAction, uploadFile } from '@kith/protocol'
import { request } from 'undici'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { S3Server } from '#harness/s3-server.ts'
import { TestClock } from '#harness/test-clock.ts'
import { TestServer } from '#harness/test-server.ts'

const baseTag = 'home.localhost'
const pictures = join(import.meta.dirname, '../fixtures/images')
const photo = await readFile(join(pictures, 'photo.jpg'))
const clock = new TestClock()

let bucket: S3Server
let server: TestServer
let client: Awaited<ReturnType<TestServer['as']>>

beforeAll(async () => {
  bucket = await S3Server.start({ clock })
  const env = { ...bucket.environment, BLOB_STORE: `${bucket.environment.BLOB_STORE}&redirects=public` }
  server = await TestServer.start({ env, clock })
  client = await server.as(baseTag)
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  await bucket[Symbol.asyncDispose]()
})

interface Sending {
  readonly type?: string
  readonly visibility?: 'P' | 'V' | 'F' | 'C'
  readonly fileName?: string
}

async function send(
  content: Uint8Array<ArrayBuffer> | string,
  { type = 'audio/ogg', ...rest }: Sending = {},
) {
  const { visibility = 'P', fileName = 'file' } = rest
  const preset = type.startsWith('image/jpeg') ? 'default' : 'raw'
  const { data } = await client.upload(uploadFile, {
    params: { preset, fileName },
    query: { visibility },
    body: new Blob([content], { type }),
  })
  return data.fileId
}

/** As an `<img>` asks: without following, and without the headers that `fetch` adds. */
async function get(path: string, headers: Record<string, string> = {}, method: 'GET' | 'HEAD' = 'GET') {
  const { host, port } = new URL(server.urlOf(baseTag))
  const url = `http://127.0.0.1:${port}/api/files/${path}`
  const answer = await request(url, { method, headers: { host, ...headers } })
  return { ...answer, bytes: Buffer.from(await answer.body.arrayBuffer()) }
}

async function follow(path: string, headers: Record<string, string> = {}) {
  const redirect = await get(path, headers)
  expect([redirect.statusCode, redirect.bytes.length]).toEqual([307, 0])
  return fetch(String(redirect.headers.location), { headers })
}

const sha256 = (bytes: Uint8Array | string) => createHash('sha256').update(bytes).digest('hex')

describe('A file that everybody may read', () => {
  test('is read from the bucket, with its type, its name and nothing of ours', async () => {
    const content = randomBytes(50_000)
    const fileId = await send(content, { fileName: 'Ein Lied für dich.ogg' })
    const { headers } = await get(fileId)
    expect(headers).toMatchObject({
      'cache-control': 'public, max-age=300',
      'content-length': '0',
      vary: 'Authorization, Origin, Sec-Fetch-Mode',
      'referrer-policy': 'strict-origin-when-cross-origin',
    })
    expect(headers).not.toHaveProperty('etag')
    const { length } = bucket.requests
    const answer = await follow(fileId)
    expect(sha256(await answer.bytes())).toBe(sha256(content))
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'audio/ogg',
      'content-disposition': `inline; filename="Ein Lied f_r dich.ogg"; filename*=UTF-8''Ein%20Lied%20f%C3%BCr%20dich.ogg`,
      'cache-control': 'public, max-age=10800',
    })
    // Nobody asked the bucket but the reader.
    expect(bucket.requests).toHaveLength(length + 1)
  })

  test('is saved where it asks for that, and where a browser could run it', async () => {
    const fileId = await send('hello', { type: 'text/plain' })
    const dispositionOf = async (path: string) => (await follow(path)).headers.get('content-disposition')
    expect(await dispositionOf(`${fileId}?download=1`)).toBe('attachment; filename="file"')
    const page = await send('<script>alert(1)</script>', { type: 'text/html' })
    expect(await dispositionOf(page)).toBe('attachment; filename="file"')
    const shown = await get(fileId)
    expect([shown.statusCode, shown.headers['content-security-policy']]).toEqual([
      200,
      "sandbox; default-src 'none'",
    ])
  })

  test('has its variants read from there too, once they are made', async () => {
    const fileId = await send(photo, { type: 'image/jpeg' })
    // Until they are there is only the original, which may say where it was taken.
    for (const path of [`${fileId}?variant=tn`, fileId]) expect((await get(path)).statusCode).toBe(404)
    await server.settle()
    for (const path of [`${fileId}?variant=tn`, `variant/${fileId}~tn`]) {
      const answer = await follow(path)
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'image/webp'])
    }
  })

  test('has one address for as long as a redirect is kept, which works for a quarter of an hour', async () => {
    const path = `${await send(photo, { type: 'image/jpeg' })}?variant=tn`
    await server.settle()
    clock.advance(300_000 - (clock.now() % 300_000))
    const { location } = (await get(path)).headers
    clock.advance(299_000)
    expect((await get(path)).headers.location).toBe(location)
    clock.advance(600_000)
    expect((await fetch(String(location))).status).toBe(200)
    clock.advance(1000)
    expect((await fetch(String(location))).status).toBe(403)
    expect((await follow(path)).status).toBe(200)
  })

  test('is answered here to whoever has it, and in parts there', async () => {
    const fileId = await send('0123456789')
    const etag = `"${sha256('0123456789')}"`
    expect((await get(fileId, { 'if-none-match': etag })).statusCode).toBe(304)
    const part = await follow(fileId, { range: 'bytes=2-4' })
    expect([part.status, await part.text()]).toEqual([206, '234'])
    const rest = await get(fileId, { range: 'bytes=8-', 'if-range': etag })
    expect([rest.statusCode, rest.bytes.toString()]).toEqual([206, '89'])
    // The bucket would compare them to a tag and a time of its own.
    for (const headers of [{ 'if-match': etag }, { 'if-unmodified-since': 'Fri, 01 Jan 2100 00:00:00 GMT' }])
      expect((await get(fileId, headers)).statusCode).toBe(200)
    expect((await get(fileId, { 'if-match': '"old"' })).statusCode).toBe(412)
  })

  test('is answered here where a redirect could not be followed, or a token would be carried on', async () => {
    const fileId = await send('hello')
    const token = await server.signIn(baseTag)
    const head = await get(fileId, {}, 'HEAD')
    expect([head.statusCode, head.headers.etag]).toEqual([200, `"${sha256('hello')}"`])
    const asked: [string, Record<string, string>][] = [
      [fileId, { authorization: `Bearer ${token}` }],
      [`${fileId}?token=${token}`, {}],
      [fileId, { origin: 'https://app.example' }],
      [fileId, { 'sec-fetch-mode': 'cors' }],
    ]
    for (const [path, headers] of asked)
      expect([(await get(path, headers)).statusCode, path, headers]).toEqual([200, path, headers])
  })
})

describe('A file that not everybody may read', () => {
  const reading = async (fileId: string) => {
    const bearer = { authorization: `Bearer ${await server.signIn(baseTag)}` }
    return [(await get(fileId)).statusCode, (await get(fileId, bearer)).statusCode]
  }

  test('never comes from the bucket', async () => {
    for (const visibility of ['V', 'F', 'C'] as const)
      expect(await reading(await send(visibility, { visibility }))).toEqual([404, 200])
  })

  test('came from there until it was hidden, and does when it is attached to what everybody may read', async () => {
    const fileId = await send('for a while')
    expect((await get(fileId)).statusCode).toBe(307)
    await client.call(changeFile, { params: { fileId }, body: { visibility: 'F' } })
    expect(await reading(fileId)).toEqual([404, 200])
    const body = {
      type: 'POST',
      visibility: 'P',
      content: { text: 'listen' },
      attachments: [fileId],
    } as const
    await client.call(createAction, { body })
    expect((await get(fileId)).statusCode).toBe(307)
  })
})
