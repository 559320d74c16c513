import { createHash, randomBytes } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { chunksOf, keptBlob } from '#harness/blob-store-contract.ts'
import { S3Server } from '#harness/s3-server.ts'
import { TestClock } from '#harness/test-clock.ts'
import { type BlobHash, type BlobStore, openS3Blobs, type S3BlobsOptions } from '#infra/blobs/index.ts'
import type { TenantId } from '#infra/db/index.ts'
import { findS3Trouble } from './open-s3-blobs.ts'

const alice = 1 as TenantId
const unlimited = { maxBytes: 1e9 }
const serverError = { status: 500, code: 'InternalError' }
const impatient = { connectMs: 1000, idleMs: 150, answerMs: 5000 }
// Three parts.
const large = randomBytes(17 * 1024 * 1024)
const hashOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex') as BlobHash
const closers: (() => Promise<unknown>)[] = []

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

interface Desk {
  readonly server: S3Server
  readonly store: BlobStore
  readonly stagingDir: string
  readonly lines: object[]
  readonly clock: TestClock
}

async function openDesk(options: Pick<S3BlobsOptions, 'timeouts'> = {}): Promise<Desk> {
  const stagingDir = await mkdtemp(join(tmpdir(), 'kith-s3-'))
  closers.push(() => rm(stagingDir, { recursive: true, force: true }))
  const clock = new TestClock()
  const server = await S3Server.start({ clock })
  closers.push(() => server[Symbol.asyncDispose]())
  const lines: object[] = []
  const logger = { error: (fields: object) => lines.push(fields) }
  const { location, credentials } = server
  const store = await openS3Blobs({ location, credentials, stagingDir, clock, logger, ...options })
  return { server, store, stagingDir, lines, clock }
}

const unavailable = { code: 'E-UNAVAILABLE', retryAfterSecs: 5 }

/** Stages, is refused when it keeps, and lets go as every caller does. */
async function failToKeep({ store, server, stagingDir }: Desk, bytes: Buffer | string): Promise<void> {
  const staged = await store.stage(alice, chunksOf(bytes), unlimited)
  await expect(staged.keep()).rejects.toMatchObject(unavailable)
  await staged.discard()
  expect(server.objects.size).toBe(0)
  expect(await readdir(stagingDir)).toEqual([])
}

describe('A store that answers 500', () => {
  test('is asked three times, then it is E-UNAVAILABLE and nothing is left', async () => {
    const desk = await openDesk()
    desk.server.fault = () => serverError
    await failToKeep(desk, 'hello')
    expect(desk.server.requests.map(({ method }) => method)).toEqual(['PUT', 'PUT', 'PUT'])
    await expect(desk.store.open(alice, hashOf(large))).rejects.toMatchObject(unavailable)
    await expect(desk.store.size(alice, hashOf(large))).rejects.toMatchObject(unavailable)
    await expect(desk.store.openLocal(alice, hashOf(large))).rejects.toMatchObject(unavailable)
    await expect(desk.store.remove(alice, hashOf(large))).rejects.toMatchObject(unavailable)
    await expect(desk.store.removeTenant(alice)).rejects.toMatchObject(unavailable)
    await expect(desk.store.sweepStaged(0)).rejects.toMatchObject(unavailable)
  })

  test('once, is asked again and nobody notices', async () => {
    const { server, store, lines } = await openDesk()
    let faults = 0
    server.fault = () => (faults++ % 2 === 0 ? serverError : undefined)
    const hash = await keptBlob(store, alice, 'hello')
    expect((await buffer((await store.open(alice, hash))!)).toString()).toBe('hello')
    expect(lines).toEqual([])
  })

  test('to one part of many takes back the others', async () => {
    const desk = await openDesk()
    desk.server.fault = ({ query }) => (query.get('partNumber') === '2' ? serverError : undefined)
    await failToKeep(desk, large)
    expect(desk.server.uploads.size).toBe(0)
  })

  test('when the parts are to be put together takes them back', async () => {
    const desk = await openDesk()
    desk.server.fault = ({ method, query }) =>
      method === 'POST' && query.has('uploadId') ? serverError : undefined
    await failToKeep(desk, large)
    expect(desk.server.uploads.size).toBe(0)
  })

  test('to the end takes no parts back; a sweep by age does', async () => {
    const desk = await openDesk()
    const { server, store, clock } = desk
    server.fault = ({ query }) => (query.has('uploadId') ? serverError : undefined)
    await failToKeep(desk, large)
    server.fault = () => undefined
    expect([server.uploads.size, await store.sweepStaged(60_000)]).toEqual([1, 0])
    clock.advance(61_000)
    expect([await store.sweepStaged(60_000), server.uploads.size]).toEqual([1, 0])
  })

  test('or has an upload no more is swept all the same, and uploads of others stay', async () => {
    const { server, store, clock } = await openDesk()
    const startedAtMs = clock.now()
    const begin = (key: string) => server.uploads.set(key, { key, startedAtMs, parts: new Map() })
    for (const key of [`blobs/1/${hashOf(large)}`, 'blobs/1/video.mp4', `blobs/x/${hashOf(large)}`])
      begin(key)
    clock.advance(61_000)
    server.fault = ({ method }) => (method === 'DELETE' ? { status: 404, code: 'NoSuchUpload' } : undefined)
    expect(await store.sweepStaged(60_000)).toBe(1)
    server.fault = () => undefined
    expect(await store.sweepStaged(60_000)).toBe(1)
    expect([...server.uploads.keys()]).toEqual(['blobs/1/video.mp4', `blobs/x/${hashOf(large)}`])
  })

  test('does not get credentials into the log or the failure', async () => {
    const { server, store, lines } = await openDesk()
    server.fault = () => ({ status: 403, code: 'SignatureDoesNotMatch' })
    const failure = await store.open(alice, hashOf(large)).catch((error) => error)
    expect(lines).toEqual([
      { code: 'SignatureDoesNotMatch', status: 403, requestId: undefined, bucket: 'kith-test' },
    ])
    expect(failure.cause.message).toBe('S3: SignatureDoesNotMatch (403)')
    const told = JSON.stringify([lines, failure, failure.cause, failure.stack, failure.cause.stack])
    expect(told).not.toMatch(/hidden-secret|TESTKEY/)
  })
})

describe('A slow store', () => {
  test('is given up when nothing comes', async () => {
    const desk = await openDesk({ timeouts: impatient })
    desk.server.fault = () => 'silence'
    await failToKeep(desk, 'hello')
    await expect(desk.store.open(alice, hashOf(large))).rejects.toMatchObject(unavailable)
    expect(desk.lines).toMatchObject([{ code: 'TimeoutError' }])
  })

  test('is asked no more for some seconds, then by one request alone', async () => {
    const { server, store, clock } = await openDesk({ timeouts: impatient })
    const hash = await keptBlob(store, alice, 'hello')
    server.fault = () => 'silence'
    await expect(store.size(alice, hash)).rejects.toMatchObject({ code: 'E-UNAVAILABLE' })
    const asked = server.requests.length
    for (const ask of [() => store.open(alice, hash), () => store.size(alice, hash)])
      await expect(ask()).rejects.toMatchObject(unavailable)
    expect([server.requests.length, await store.isAnswering()]).toEqual([asked, false])
    clock.advance(5_000)
    const both = await Promise.allSettled([store.size(alice, hash), store.size(alice, hash)])
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(await store.isAnswering()).toBe(false)
    server.fault = () => undefined
    clock.advance(5_000)
    expect(await store.isAnswering()).toBe(true)
    expect(await store.size(alice, hash)).toBe(5)
  })

  test('that is silent about one part of many leaves no half', async () => {
    const desk = await openDesk({ timeouts: impatient })
    desk.server.fault = ({ query }) => (query.get('partNumber') === '3' ? 'silence' : undefined)
    await failToKeep(desk, large)
  })

  test('that is gone is E-UNAVAILABLE', async () => {
    const { server, store, lines } = await openDesk()
    await server[Symbol.asyncDispose]()
    closers.pop()
    await expect(store.size(alice, hashOf(large))).rejects.toMatchObject(unavailable)
    expect(lines).toMatchObject([{ code: 'ECONNREFUSED' }])
  })
})

describe('A large blob', () => {
  test('is sent in parts and comes back whole', async () => {
    const { server, store } = await openDesk()
    const staged = await store.stage(alice, chunksOf(large), unlimited)
    await staged.keep()
    expect(server.requests.filter(({ query }) => query.has('partNumber'))).toHaveLength(3)
    expect(hashOf(await buffer((await store.open(alice, staged.hash))!))).toBe(hashOf(large))
  })
})

describe('A store that breaks off in the middle of a body', () => {
  const content = randomBytes(400_000)

  async function openWithContent(): Promise<Desk & { readonly hash: BlobHash }> {
    const desk = await openDesk()
    const staged = await desk.store.stage(alice, chunksOf(content), unlimited)
    await staged.keep()
    desk.server.requests.length = 0
    return { ...desk, hash: staged.hash }
  }

  test('is asked for the rest', async () => {
    const { server, store, hash } = await openWithContent()
    server.fault = () => ({ breakAfterBytes: 150_000 })
    expect(hashOf(await buffer((await store.open(alice, hash))!))).toBe(hash)
    expect(server.requests.length).toBeGreaterThan(2)
    const part = await buffer((await store.open(alice, hash, { start: 1000, end: 350_000 }))!)
    expect(part.equals(content.subarray(1000, 350_001))).toBe(true)
  })

  test('again and again is given up, and the reader is told', async () => {
    const { server, store, hash, lines } = await openWithContent()
    server.fault = () => ({ breakAfterBytes: 0 })
    await expect(buffer((await store.open(alice, hash))!)).rejects.toMatchObject(unavailable)
    expect(server.requests).toHaveLength(3)
    expect(lines).toHaveLength(1)
  })

  test('leaves no half of a file lent to another process', async () => {
    const { server, store, hash, stagingDir } = await openWithContent()
    server.fault = ({ range }) => (range === undefined ? { breakAfterBytes: 1000 } : serverError)
    await expect(store.openLocal(alice, hash)).rejects.toMatchObject(unavailable)
    expect(await readdir(stagingDir)).toEqual([])
    server.fault = () => ({ breakAfterBytes: 150_000 })
    const local = (await store.openLocal(alice, hash))!
    expect((await readFile(local.path)).equals(content)).toBe(true)
    await local[Symbol.asyncDispose]()
    expect(await readdir(stagingDir)).toEqual([])
  })

  test('or has given up a reader who paused, does not end its reading', async () => {
    const { server, store, hash } = await openDesk().then(async (desk) => {
      const staged = await desk.store.stage(alice, chunksOf(large), unlimited)
      await staged.keep()
      return { ...desk, hash: staged.hash }
    })
    const stream = (await store.open(alice, hash))!
    const pieces = stream[Symbol.asyncIterator]()
    const first = (await pieces.next()).value as Buffer
    const before = server.requests.length
    // All connections go, as after a long pause.
    server.dropConnections()
    const rest: Buffer[] = []
    for (let next = await pieces.next(); !next.done; next = await pieces.next()) rest.push(next.value)
    expect(hashOf(Buffer.concat([first, ...rest]))).toBe(hash)
    expect(server.requests.length).toBe(before + 1)
  })
})

describe('A reader', () => {
  test('that goes lets go of the connection, begun or not', async () => {
    const { server, store } = await openDesk()
    const staged = await store.stage(alice, chunksOf(large), unlimited)
    await staged.keep()
    const unread = (await store.open(alice, staged.hash))!
    unread.destroy()
    const begun = (await store.open(alice, staged.hash))!
    for await (const _piece of begun) break
    while (server.sending > 0) await turn()
    expect(begun.destroyed).toBe(true)
  })

  test('that does not read holds little of a large blob', async () => {
    const { server, store } = await openDesk()
    const staged = await store.stage(alice, chunksOf(large), unlimited)
    await staged.keep()
    const stream = (await store.open(alice, staged.hash))!
    await new Promise((resolve) => stream.once('readable', resolve))
    for (let round = 0; round < 50; round++) await turn()
    expect(stream.readableLength).toBeLessThan(1024 * 1024)
    expect(server.sending).toBe(1)
    stream.destroy()
  })
})

describe('A look at the bucket', () => {
  test('finds nothing wrong, or says what', async () => {
    const { server, lines, clock } = await openDesk()
    const { location, credentials } = server
    const options = { credentials, clock, logger: { error: () => undefined } }
    expect(await findS3Trouble({ ...options, location })).toBeUndefined()
    const elsewhere = { ...location, bucket: 'nobodys' }
    expect(await findS3Trouble({ ...options, location: elsewhere })).toMatchObject({ status: 404 })
    const stranger = { ...credentials, accessKeyId: 'OTHER' }
    expect(await findS3Trouble({ ...options, location, credentials: stranger })).toMatchObject({
      status: 403,
    })
    expect(server.requests.every(({ method }) => method === 'HEAD')).toBe(true)
    expect(lines).toEqual([])
  })
})

describe('A store that others write to', () => {
  test('gives no bytes to be looked into but those of the blob', async () => {
    const { server, store, stagingDir } = await openDesk()
    const hash = await keptBlob(store, alice, 'a picture')
    for (const [key, object] of server.objects)
      server.objects.set(key, { ...object, bytes: Buffer.from('an exploit') })
    expect(await store.openLocal(alice, hash)).toBeUndefined()
    expect(await readdir(stagingDir)).toEqual([])
  })

  test('gives no more than the part that was asked for', async () => {
    const { server, store } = await openDesk()
    const hash = await keptBlob(store, alice, 'one and what follows')
    server.fault = () => 'no ranges'
    await expect(store.open(alice, hash, { start: 0, end: 2 })).rejects.toMatchObject(unavailable)
    server.fault = () => undefined
    expect((await buffer((await store.open(alice, hash, { start: 0, end: 2 }))!)).toString()).toBe('one')
  })

  test('is cut off where an error or a list has no end', async () => {
    const { server, store, lines } = await openDesk()
    for (const paddingBytes of [1_000_000, 9_000_000]) {
      server.fault = () => ({ status: 403, code: 'AccessDenied', paddingBytes })
      await expect(store.open(alice, hashOf(large))).rejects.toMatchObject(unavailable)
    }
    expect(lines).toMatchObject([{ code: 'AccessDenied' }, { code: 'Unknown' }])
    server.fault = () => ({ status: 200, code: 'NoSuchKey', paddingBytes: 9_000_000 })
    await expect(Array.fromAsync(store.list(alice))).rejects.toMatchObject(unavailable)
  })
})
