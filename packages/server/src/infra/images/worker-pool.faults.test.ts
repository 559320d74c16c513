import { type ChildProcess, spawn } from 'node:child_process'
import { readFile, symlink } from 'node:fs/promises'
import { getPriority } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { compileCache } from '#harness/compile-cache.ts'
import { ImageDesk, isRunning, pictures } from '#harness/image-desk.ts'
import type { TenantId } from '#infra/db/index.ts'

describe('A worker', () => {
  test('is started by the first job, and serves the next', async () => {
    await using desk = await ImageDesk.open()
    expect(desk.pids).toEqual([])
    await desk.made('orientation-6.jpg')
    await desk.made('transparent.png')
    expect(desk.pids).toHaveLength(1)
  })

  test('is stopped when idle, and the next job starts another', async () => {
    await using desk = await ImageDesk.open({ idleMs: 1 })
    await desk.made('orientation-6.jpg')
    await desk.until('An idle image worker was stopped')
    expect(isRunning(desk.pids[0]!)).toBe(false)
    await desk.made('orientation-6.jpg')
    expect(desk.pids).toHaveLength(2)
  })

  test('that is idle ends with the server', async () => {
    await using desk = await ImageDesk.open()
    await desk.made('orientation-6.jpg')
    await desk.images.close()
    expect(isRunning(desk.pids[0]!)).toBe(false)
  })

  test('has no environment and gives way to others', async ({ skip }) => {
    skip(process.platform !== 'linux', 'needs /proc of Linux')
    process.env.KITH_TEST_SECRET = 'hidden'
    await using desk = await ImageDesk.open()
    await desk.made('orientation-6.jpg')
    const [pid = 0] = desk.pids
    const names = (await readFile(`/proc/${pid}/environ`, 'utf8'))
      .split('\0')
      .map((line) => line.split('=')[0])
    expect(names.filter((name) => name && !name.startsWith('NODE_CHANNEL_'))).toEqual([])
    expect(getPriority(pid)).toBe(10)
    expect(await readFile(`/proc/${pid}/oom_score_adj`, 'utf8')).toBe('1000\n')
    delete process.env.KITH_TEST_SECRET
  })

  test('cannot write outside of the folder for temporary files', async () => {
    await using desk = await ImageDesk.open()
    const job = desk.process('orientation-6.jpg', { outputDir: desk.dir })
    await expect(job).rejects.toMatchObject({ code: 'E-UNAVAILABLE' })
    expect(desk.said('An image worker could not do its work')[0]?.details.detail).toContain(
      'Access to this API has been restricted',
    )
  })

  test('is not believed when it leaves a link instead of a file', async () => {
    await using desk = await ImageDesk.open()
    const job = await desk.job('orientation-6.jpg')
    await symlink(join(desk.dir, 'temp', 'elsewhere'), join(job.outputDir, 'tn.webp'))
    await expect(desk.images.process(job)).rejects.toThrow('something else than a file')
  })
})

describe('A worker that dies during a job', () => {
  test('is replaced once, and the job is done', async () => {
    await using desk = await ImageDesk.open()
    const stuck = desk.stuckOriginal('stuck.jpg')
    const result = desk.made(stuck.path)
    const reader = await stuck.opened()
    await stuck.replaceBy('orientation-6.jpg')
    process.kill(desk.pids[0]!, 'SIGKILL')
    expect((await result).outputs).toHaveLength(3)
    await reader.close()
    expect(desk.pids).toHaveLength(2)
    expect(desk.said('An image worker died')).toHaveLength(1)
  })

  test('twice makes the picture unprocessable', async () => {
    await using desk = await ImageDesk.open()
    const stuck = desk.stuckOriginal('stuck.jpg')
    const result = desk.process(stuck.path)
    for (const attempt of [0, 1]) {
      await desk.until('An image worker started', attempt + 1)
      const reader = await stuck.opened()
      process.kill(desk.pids[attempt]!, 'SIGKILL')
      await desk.until('An image worker died', attempt + 1)
      await reader.close()
    }
    expect(await result).toEqual({ kind: 'unprocessable', reason: 'The picture cannot be read.' })
    expect(desk.pids).toHaveLength(2)
    expect(await desk.process('orientation-6.jpg')).toMatchObject({ kind: 'made' })
  })

  test('before it came to the job is no fault of the picture', async () => {
    await using desk = await ImageDesk.open({ startLimitMs: 0 })
    await expect(desk.process('orientation-6.jpg')).rejects.toMatchObject({ code: 'E-UNAVAILABLE' })
  })
})

describe('A picture that takes too much', () => {
  test.each([
    ['time', { timeLimitMs: 300 }, 'Reading the picture takes too long.'],
    ['memory', { maxMemoryBytes: 1 }, 'Reading the picture takes too much memory.'],
  ])('%s is given up, and its worker killed', async (_, limits, reason) => {
    await using desk = await ImageDesk.open(limits)
    const stuck = desk.stuckOriginal('stuck.jpg')
    expect(await desk.process(stuck.path)).toEqual({ kind: 'unprocessable', reason })
    expect(isRunning(desk.pids[0]!)).toBe(false)
  })
})

describe('Jobs', () => {
  test('run side by side on so many workers and no more', async () => {
    await using desk = await ImageDesk.open({ maxWorkers: 2 })
    const names = [
      'orientation-6.jpg',
      'transparent.png',
      'still.webp',
      'still.avif',
      'wide-gamut.jpg',
      'photo.jpg',
    ]
    const results = await Promise.all(names.map((name) => desk.made(name)))
    expect(results.map((result) => result.original.format)).toEqual([
      'jpeg',
      'png',
      'webp',
      'avif',
      'jpeg',
      'jpeg',
    ])
    expect(desk.pids).toHaveLength(2)
  })

  test('pass one that is stuck on another worker', async () => {
    await using desk = await ImageDesk.open({ maxWorkers: 2 })
    const control = new AbortController()
    const stuck = desk.stuckOriginal('stuck.jpg')
    const first = desk.process(stuck.path, { signal: control.signal })
    const reader = await stuck.opened()
    await desk.made('orientation-6.jpg')
    control.abort(new Error('Enough'))
    await expect(first).rejects.toThrow('Enough')
    await reader.close()
  })

  test('are turned away when too many wait, and those who wait get their turn', async () => {
    await using desk = await ImageDesk.open({ maxWorkers: 1, maxWaiting: 1 })
    const control = new AbortController()
    const stuck = desk.stuckOriginal('stuck.jpg')
    const first = desk.process(stuck.path, { signal: control.signal })
    const reader = await stuck.opened()
    // Which of the two comes to the queue first is not said: their files are looked at before.
    const others = [desk.process('orientation-6.jpg'), desk.process('transparent.png')]
    await expect(Promise.race(others)).rejects.toMatchObject({ code: 'E-UNAVAILABLE' })
    control.abort(new Error('Enough'))
    await expect(first).rejects.toThrow('Enough')
    const outcomes = (await Promise.allSettled(others)).map(({ status }) => status).sort()
    expect(outcomes).toEqual(['fulfilled', 'rejected'])
    expect(await Promise.any(others)).toMatchObject({ kind: 'made' })
    await reader.close()
  })

  test('that are called off end at once: before, while waiting, and at work', async () => {
    await using desk = await ImageDesk.open({ maxWorkers: 1 })
    const control = new AbortController()
    const stuck = desk.stuckOriginal('stuck.jpg')
    const working = desk.process(stuck.path, { signal: control.signal })
    const reader = await stuck.opened()
    const waiting = desk.process('orientation-6.jpg', { signal: control.signal })
    control.abort(new Error('Enough'))
    await Promise.all([expect(working).rejects.toThrow('Enough'), expect(waiting).rejects.toThrow('Enough')])
    await expect(desk.process('orientation-6.jpg', { signal: control.signal })).rejects.toThrow('Enough')
    expect(isRunning(desk.pids[0]!)).toBe(false)
    await reader.close()
  })

  test('may be tried again when the server stops, and no worker is left', async () => {
    await using desk = await ImageDesk.open({ maxWorkers: 1 })
    const stuck = desk.stuckOriginal('stuck.jpg')
    const working = desk.process(stuck.path)
    const reader = await stuck.opened()
    const waiting = desk.process('orientation-6.jpg')
    await Promise.all([
      expect(working).rejects.toMatchObject({ code: 'E-UNAVAILABLE' }),
      expect(waiting).rejects.toMatchObject({ code: 'E-UNAVAILABLE' }),
      desk.images.close(),
    ])
    await expect(desk.process('orientation-6.jpg')).rejects.toMatchObject({ code: 'E-UNAVAILABLE' })
    expect(desk.pids.filter(isRunning)).toEqual([])
    await reader.close()
  })
})

// Makes the variants of one picture, then says which libraries it has loaded, and waits.
const server = `
const [, tempDir, inputPath, module] = process.argv
const { openImages } = await import(module)
let pid
const logger = { debug: (details) => { pid = details.pid }, warn: console.error }
const images = await openImages({ tempDir, logger })
const result = await images.process({ inputPath, outputDir: tempDir, preset: 'default', format: 'webp' })
process.report.excludeNetwork = true
const { sharedObjects } = process.report.getReport()
console.log(JSON.stringify({ kind: result.kind, pid, sharedObjects }))
if (tempDir.endsWith('stay')) setInterval(() => {}, 1000)
`
function startServer(cwd: string, tempDir: string): ChildProcess {
  const args = [tempDir, join(pictures, 'orientation-6.jpg'), join(import.meta.dirname, 'index.ts')]
  return spawn(process.execPath, ['--input-type=module', '-e', server, ...args], {
    cwd,
    env: { ...process.env, ...compileCache },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

async function answerOf(
  child: ChildProcess,
): Promise<{ kind: string; pid: number; sharedObjects: string[] }> {
  const text = await new Promise<string>((resolve) => {
    let heard = ''
    child.stdout?.setEncoding('utf8').on('data', (part: string) => {
      heard += part
      if (heard.includes('\n')) resolve(heard)
    })
  })
  return JSON.parse(text)
}

describe('The server', () => {
  test('never loads a decoder, takes relative paths, and can end while a worker is idle', async () => {
    await using desk = await ImageDesk.open()
    const child = startServer(desk.dir, 'end')
    const ended = new Promise((resolve) => child.once('exit', resolve))
    const { kind, pid, sharedObjects } = await answerOf(child)
    expect(kind).toBe('made')
    expect(sharedObjects.length).toBeGreaterThan(1)
    expect(sharedObjects.filter((path) => /sharp|vips/.test(path))).toEqual([])
    expect(await ended).toBe(0)
    await expect.poll(() => isRunning(pid)).toBe(false)
  })

  test('takes its workers along when it is killed', async () => {
    await using desk = await ImageDesk.open()
    const child = startServer(desk.dir, 'stay')
    const { pid } = await answerOf(child)
    expect(isRunning(pid)).toBe(true)
    child.kill('SIGKILL')
    await expect.poll(() => isRunning(pid)).toBe(false)
  })
})

test('tenants take turns, however many pictures one has', async () => {
  await using desk = await ImageDesk.open({ maxWorkers: 1, maxWaiting: 6 })
  const stuck = desk.stuckOriginal('stuck.jpg')
  const order: string[] = []
  const names = ['a0', 'a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'b0', 'c0']
  // Their folders are made before the first of them waits: that would mix them up.
  const jobs = await Promise.all(
    names.map((name) => {
      const tenantId = { a: 1, b: 2, c: 3 }[name[0] ?? ''] as TenantId
      return desk.job(name === 'a0' ? stuck.path : 'orientation-6.jpg', { tenantId })
    }),
  )
  const make = async (name: string, at: number) => {
    const made = await desk.images.process(jobs[at]!).then(
      () => '',
      (error: { code: string }) => ` ${error.code}`,
    )
    order.push(name + made)
  }
  const early = names.slice(0, 7).map(make)
  const reader = await stuck.opened()
  const late = names.slice(7).map((name, at) => make(name, at + 7))
  await stuck.replaceBy('orientation-6.jpg')
  process.kill(desk.pids[0]!, 'SIGKILL')
  await Promise.all([...early, ...late])
  await reader.close()
  const [, , ...made] = order
  // Those who came last gave their places to the others.
  expect(order.slice(0, 2)).toEqual(['a6 E-UNAVAILABLE', 'a5 E-UNAVAILABLE'])
  expect(made).toEqual(['a0', 'a1', 'b0', 'c0', 'a2', 'a3', 'a4'])
})
