import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { skipSuite } from '#harness/skip-suite.ts'
import { canMount, onSmallDisk } from '#harness/small-disk.ts'
import { systemClock } from '#lib/clock.ts'
import { openDiskBlobs } from './disk-blobs.ts'

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

const filesBelow = async (dir: string) =>
  (await readdir(dir, { withFileTypes: true, recursive: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(dir.length + 1))

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

if (!canMount()) skipSuite('a full disk', 'needs the right to mount')
else
  describe('A full disk', () => {
    test('is E-UNAVAILABLE, told to the log, and leaves nothing', async () => {
      const dir = await emptyDir()
      await openDiskBlobs({ dir, clock: systemClock, logger: quiet })
      const [program, ...args] = onSmallDisk(dir, 1, [process.execPath, ...nodeArgs(dir, 'fill')])
      const { stdout } = spawnSync(program, args, { encoding: 'utf8' })
      const answer = JSON.parse(stdout.trim().split('\n').at(-1) ?? '')
      expect(answer).toEqual({ code: 'E-UNAVAILABLE', logged: ['ENOSPC'], left: [] })
    })
  })
