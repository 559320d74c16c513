import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { blobStoreContract, chunksOf, keptBlob } from '#harness/blob-store-contract.ts'
import { TestClock } from '#harness/test-clock.ts'
import type { TenantId } from '#infra/db/index.ts'
import { systemClock } from '#lib/clock.ts'
import { openDiskBlobs } from './disk-blobs.ts'
import { explainDiskErrors } from './disk-failure.ts'

const alice = 1 as TenantId
const unlimited = { maxBytes: 1e9 }
const quiet = { error: () => undefined }
const places: string[] = []

afterEach(async () => {
  for (const place of places.splice(0)) await rm(place, { recursive: true, force: true })
})

async function emptyDir(): Promise<string> {
  const dir = join(await mkdtemp(join(tmpdir(), 'kith-blobs-')), 'blobs')
  places.push(join(dir, '..'))
  return dir
}

blobStoreContract('A disk store', async (clock) =>
  openDiskBlobs({ dir: await emptyDir(), clock, logger: quiet }),
)

const filesBelow = async (dir: string) =>
  (await readdir(dir, { withFileTypes: true, recursive: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(dir.length + 1))

describe('The directory of a disk store', () => {
  test('holds a blob at TENANT/ab/cdef…, for this user alone', async () => {
    const dir = await emptyDir()
    const store = await openDiskBlobs({ dir, clock: systemClock, logger: quiet })
    const hash = await keptBlob(store, alice, 'hello')
    const path = `1/${hash.slice(0, 2)}/${hash.slice(2)}`
    expect(await filesBelow(dir)).toEqual([path])
    expect((await stat(join(dir, path))).mode & 0o777).toBe(0o600)
    for (const folder of ['.', 'staging', '1', `1/${hash.slice(0, 2)}`]) {
      expect((await stat(join(dir, folder))).mode & 0o777).toBe(0o700)
    }
  })

  test('repairs a blob that was cut short', async () => {
    const dir = await emptyDir()
    const store = await openDiskBlobs({ dir, clock: systemClock, logger: quiet })
    const hash = await keptBlob(store, alice, 'hello')
    await writeFile(join(dir, '1', hash.slice(0, 2), hash.slice(2)), 'he')
    await keptBlob(store, alice, 'hello')
    expect(await store.size(alice, hash)).toBe(5)
  })

  test('may hold files of others, which are not listed', async () => {
    const dir = await emptyDir()
    const store = await openDiskBlobs({ dir, clock: systemClock, logger: quiet })
    const hash = await keptBlob(store, alice, 'hello')
    await writeFile(join(dir, '1', 'README'), '')
    await writeFile(join(dir, '1', hash.slice(0, 2), 'x.swp'), '')
    expect((await Array.fromAsync(store.list(alice))).map((blob) => blob.hash)).toEqual([hash])
  })

  test('holds nothing but staged bytes after a crash between staging and keeping', async () => {
    const dir = await emptyDir()
    const clock = new TestClock()
    // The clock of a process that died rings no more.
    const before = await openDiskBlobs({ dir, clock: new TestClock(), logger: quiet })
    await before.stage(alice, chunksOf('lost'), unlimited)
    expect(await filesBelow(dir)).toEqual([expect.stringMatching(/^staging\//)])
    const after = await openDiskBlobs({ dir, clock, logger: quiet })
    expect(await after.sweepStaged(60_000)).toBe(0)
    clock.advance(61_000)
    expect(await after.sweepStaged(60_000)).toBe(1)
    expect(await filesBelow(dir)).toEqual([])
  })
})

describe('A full disk and its like', () => {
  test.each(['ENOSPC', 'EDQUOT', 'EROFS', 'EMFILE'])('are no bug and no quota: %s', (code) => {
    const lines: unknown[] = []
    const explain = explainDiskErrors('/blobs', { error: (fields) => lines.push(fields) })
    const cause = Object.assign(new Error(code), { code })
    expect(explain(cause)).toMatchObject({ code: 'E-UNAVAILABLE', cause })
    expect(lines).toMatchObject([{ code, dir: '/blobs' }])
  })

  test('are not blamed for other errors', () => {
    const explain = explainDiskErrors('/blobs', quiet)
    const error = Object.assign(new Error('broken disk'), { code: 'EIO' })
    expect(explain(error)).toBe(error)
  })
})
