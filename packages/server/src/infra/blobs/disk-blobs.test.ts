import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { blobStoreContract, chunksOf, keptBlob } from '#harness/blob-store-contract.ts'
import { canMount, onSmallDisk } from '#harness/small-disk.ts'
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

// Runs a store in another process; `stageEndless` says `staging` when a megabyte has arrived, and goes on.
const program = `
const [, dir, task] = process.argv
const { openDiskBlobs } = await import(${JSON.stringify(join(import.meta.dirname, 'disk-blobs.ts'))})
const logged = []
const logger = { error: (fields) => logged.push(fields.code) }
const store = await openDiskBlobs({ dir, clock: { now: () => Date.now(), wakeAt: () => () => {} }, logger })
async function* pieces(count) {
  for (let sent = 0; sent < count; sent++) {
    if (sent === 16) console.log('staging')
    yield Buffer.alloc(65536, sent)
    if (count === Infinity) await new Promise(setImmediate)
  }
}
if (task === 'stageEndless') await store.stage(1, pieces(Infinity), { maxBytes: Infinity })
const failure = await store.stage(1, pieces(64), { maxBytes: Infinity }).catch((error) => error)
const { readdir } = await import('node:fs/promises')
console.log(JSON.stringify({ code: failure.code, logged, left: await readdir(dir + '/staging') }))
`
const nodeArgs = (dir: string, task: string) => ['--input-type=module', '-e', program, dir, task]

describe('A process that is killed while staging', () => {
  test('leaves only staged bytes, and they are swept', async () => {
    const dir = await emptyDir()
    const child = spawn(process.execPath, nodeArgs(dir, 'stageEndless'), {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await new Promise((resolve) => child.stdout.once('data', resolve))
    await killed(child)
    const left = await filesBelow(dir)
    expect(left).toEqual([expect.stringMatching(/^staging\//)])
    expect((await stat(join(dir, left[0]!))).size).toBeGreaterThan(500_000)
    const store = await openDiskBlobs({
      dir,
      clock: { ...systemClock, now: () => Date.now() + 1000 },
      logger: quiet,
    })
    expect(await store.sweepStaged(0)).toBe(1)
    expect(await filesBelow(dir)).toEqual([])
  })
})

async function killed(child: ChildProcess): Promise<void> {
  const exited = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGKILL')
  await exited
}

describe('A full disk', () => {
  test('is E-UNAVAILABLE, told to the log, and leaves nothing', async ({ skip }) => {
    skip(!canMount(), 'needs a machine that lets users mount')
    const dir = await emptyDir()
    await openDiskBlobs({ dir, clock: systemClock, logger: quiet })
    const [program, ...args] = onSmallDisk(dir, 1, [process.execPath, ...nodeArgs(dir, 'fill')])
    const { stdout } = spawnSync(program, args, { encoding: 'utf8' })
    const answer = JSON.parse(stdout.trim().split('\n').at(-1) ?? '')
    expect(answer).toEqual({ code: 'E-UNAVAILABLE', logged: ['ENOSPC'], left: [] })
  })

  test.each(['ENOSPC', 'EDQUOT', 'EROFS', 'EMFILE'])('and its like are no bug and no quota: %s', (code) => {
    const lines: unknown[] = []
    const explain = explainDiskErrors('/blobs', { error: (fields) => lines.push(fields) })
    const cause = Object.assign(new Error(code), { code })
    expect(explain(cause)).toMatchObject({ code: 'E-UNAVAILABLE', cause })
    expect(lines).toMatchObject([{ code, dir: '/blobs' }])
  })

  test('is not blamed for other errors', () => {
    const explain = explainDiskErrors('/blobs', quiet)
    const error = Object.assign(new Error('broken disk'), { code: 'EIO' })
    expect(explain(error)).toBe(error)
  })
})
