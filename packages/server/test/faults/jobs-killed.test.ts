import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { compileCache } from '#harness/compile-cache.ts'
import { eachDialect, type OpenTestDatabase } from '#harness/each-dialect.ts'
import { openDatabase, serverTenant } from '#infra/db/index.ts'
import { jobsMigrations } from '#infra/jobs/index.ts'

const script = join(import.meta.dirname, 'jobs-until-killed.ts')
const env = { ...process.env, ...compileCache }

/** After so many acknowledgments each life of the server ends. */
const lives = [60, 250, 1, 30, 120]

function killSuite(open: OpenTestDatabase): void {
  test('nothing is lost when a server is killed', async () => {
    const { url } = await open.place()
    const folder = await mkdtemp(join(tmpdir(), 'kith-killed-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    await killAndCheck(url, join(folder, 'effects'))
  })
}

eachDialect('jobs', killSuite)

async function killAndCheck(url: string, effectsPath: string): Promise<void> {
  const acknowledged: number[] = []
  for (const count of lives) acknowledged.push(...(await runUntilKilled(url, effectsPath, count)))
  await drain(url, effectsPath)
  const stored = await listNotes(url)
  const effects = (await readFile(effectsPath, 'utf8')).trim().split('\n').map(toEffect)
  const storedIds = new Set(stored.map(({ id }) => id))
  // What was acknowledged is there.
  expect(acknowledged.filter((id) => !storedIds.has(id))).toEqual([])
  // A job ran exactly for each change that is there.
  expect([...new Set(effects.map(({ id }) => id))].sort(byNumber)).toEqual([...storedIds].sort(byNumber))
  for (let worker = 0; worker < 8; worker += 1) {
    const ofWorker = effects.filter((effect) => effect.worker === worker).map(({ id }) => id)
    expect(ofWorker).toEqual([...ofWorker].sort(byNumber))
  }
}

/** Answers what it acknowledged. */
async function runUntilKilled(url: string, effectsPath: string, count: number): Promise<number[]> {
  const child = spawn(process.execPath, [script, url, effectsPath, 'work'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  const enough = Promise.withResolvers<void>()
  const gone = Promise.withResolvers<void>()
  child.stdout.on('data', (chunk) => {
    output += chunk
    if (output.split('\n').length > count) enough.resolve()
  })
  child.on('close', () => {
    enough.resolve()
    gone.resolve()
  })
  await enough.promise
  child.kill('SIGKILL')
  await gone.promise
  expect(child.signalCode).toBe('SIGKILL')
  return output.split('\n').slice(0, -1).map(Number)
}

async function drain(url: string, effectsPath: string): Promise<void> {
  const child = spawn(process.execPath, [script, url, effectsPath, 'drain'], { env, stdio: 'inherit' })
  const { promise, resolve } = Promise.withResolvers<number | null>()
  child.on('close', resolve)
  expect(await promise).toBe(0)
}

async function listNotes(url: string): Promise<{ id: number; worker: number }[]> {
  const notes = { id: '0001_notes', up: () => Promise.reject(new Error('The server has made it')) }
  const db = await openDatabase({ url, migrations: [...jobsMigrations, notes] })
  const rows = await db
    .reader(serverTenant)
    .tables<{ notes: { id: number; worker: number } }>()
    .selectFrom('notes')
    .selectAll()
    .execute()
  await db.close()
  return rows
}

function toEffect(line: string): { worker: number; id: number } {
  const [worker = -1, id = -1] = line.split(' ').map(Number)
  return { worker, id }
}

function byNumber(a: number, b: number): number {
  return a - b
}
