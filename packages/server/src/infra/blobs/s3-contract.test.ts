import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { blobStoreContract, keptBlob } from '#harness/blob-store-contract.ts'
import { eachBucket } from '#harness/real-bucket.ts'
import { S3Server } from '#harness/s3-server.ts'
import { TestClock } from '#harness/test-clock.ts'
import { type BlobStore, openS3Blobs, type S3BlobsOptions } from '#infra/blobs/index.ts'
import type { TenantId } from '#infra/db/index.ts'

const alice = 1 as TenantId
const bob = 2 as TenantId
const quiet = { error: () => undefined }
const closers: (() => Promise<unknown>)[] = []

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

async function open(options: Pick<S3BlobsOptions, 'location' | 'credentials' | 'clock'>): Promise<BlobStore> {
  const stagingDir = await mkdtemp(join(tmpdir(), 'kith-s3-'))
  closers.push(() => rm(stagingDir, { recursive: true, force: true }))
  return await openS3Blobs({ ...options, stagingDir, logger: quiet })
}

eachBucket('An S3 store', (real) => {
  const openStore = async (clock: TestClock) => {
    if (real === undefined) {
      const server = await S3Server.start({ clock, maxKeys: 7 })
      closers.push(() => server[Symbol.asyncDispose]())
      return await open({ ...server, location: server.location, clock })
    }
    // Nothing is left of a test that failed: each has a place of its own.
    const location = { ...real.blobStore, prefix: `test/${randomUUID()}`, redirects: 'public' } as const
    const store = await open({ location, credentials: real.s3Credentials, clock })
    closers.push(() => Promise.all([store.removeTenant(alice), store.removeTenant(bob)]))
    return store
  }
  blobStoreContract('has blobs', openStore, { ownClock: real !== undefined })

  signedUrls('gives a signed address that', async () => {
    const clock = new TestClock()
    return { store: await openStore(clock), nowMs: real === undefined ? clock.now() : Date.now() }
  })

  test('takes what is sent in parts', async () => {
    const store = await openStore(new TestClock())
    const content = randomUUID().repeat(600_000)
    const hash = await keptBlob(store, alice, content)
    expect(await store.size(alice, hash)).toBe(content.length)
    const tail = await store.open(alice, hash, { start: content.length - 36, end: content.length - 1 })
    expect(Buffer.concat(await Array.fromAsync(tail ?? [])).toString()).toBe(content.slice(0, 36))
  })
})

function signedUrls(
  name: string,
  openStore: () => Promise<{ readonly store: BlobStore; readonly nowMs: number }>,
): void {
  const headers = {
    contentType: 'audio/ogg',
    contentDisposition: `attachment; filename="a 'b'_.ogg"; filename*=UTF-8''a%20%27b%27%C3%A9.ogg`,
    cacheControl: 'public, max-age=900',
  }

  describe(name, () => {
    test('gives the bytes to anybody, with the headers that were signed, whole and in part', async () => {
      const { store, nowMs } = await openStore()
      const hash = await keptBlob(store, alice, 'some sounds')
      const signedAt = Math.floor(nowMs / 1000)
      const address = (await store.signedUrl(alice, hash, { ...headers, signedAt, lifeSecs: 900 })) ?? ''
      expect(await store.signedUrl(alice, hash, { ...headers, signedAt, lifeSecs: 900 })).toBe(address)
      expect([...new URL(address).searchParams.keys()].filter((key) => key.includes('checksum'))).toEqual([])
      const whole = await fetch(address)
      expect([whole.status, await whole.text()]).toEqual([200, 'some sounds'])
      const {
        'content-type': type,
        'content-disposition': disposition,
        ...others
      } = Object.fromEntries(whole.headers)
      expect([type, disposition, others['cache-control']]).toEqual(Object.values(headers))
      const part = await fetch(address, { headers: { range: 'bytes=5-7' } })
      expect([part.status, await part.text()]).toEqual([206, 'sou'])
    })

    test('is refused when it is changed, used for something else, or past', async () => {
      const { store, nowMs } = await openStore()
      const [hash, other] = [await keptBlob(store, alice, 'one'), await keptBlob(store, alice, 'two')]
      const signedAt = Math.floor(nowMs / 1000)
      const address = (await store.signedUrl(alice, hash, { ...headers, signedAt, lifeSecs: 900 })) ?? ''
      const past = await store.signedUrl(alice, hash, { ...headers, signedAt: signedAt - 901, lifeSecs: 900 })
      const changed = [
        address.replace(hash, other),
        address.replace('audio%2Fogg', 'text%2Fhtml'),
        past ?? '',
      ]
      for (const wrong of changed) {
        expect(wrong).not.toBe(address)
        expect((await fetch(wrong)).status).toBe(403)
      }
      for (const method of ['HEAD', 'PUT', 'DELETE'])
        expect((await fetch(address, { method })).status).toBe(403)
      expect(await (await fetch(address)).text()).toBe('one')
    })
  })
}
