import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { carryOutRestore, finishRestore, type RestorePlan } from './finish-restore.ts'

let dataDir: string
let plan: RestorePlan

/** An old database in the way of a new one, with a blob and a key beside it. */
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'kith-finish-'))
  const aside = join(dataDir, '.restoring')
  await mkdir(aside)
  await writeFile(join(dataDir, 'kith.db'), 'old')
  await writeFile(join(aside, 'kith.db'), 'new')
  await writeFile(join(aside, 'blob'), 'bytes')
  plan = {
    moves: [
      { from: join(dataDir, 'kith.db'), to: join(dataDir, '.replaced', 'kith.db') },
      { from: join(aside, 'blob'), to: join(dataDir, 'blobs', '1', 'blob') },
      { from: join(aside, 'kith.db'), to: join(dataDir, 'kith.db') },
    ],
    leftovers: [aside],
  }
})
afterEach(() => rm(dataDir, { recursive: true }))

const expectRestored = async () => {
  expect(await readFile(join(dataDir, 'kith.db'), 'utf8')).toBe('new')
  expect(await readFile(join(dataDir, '.replaced', 'kith.db'), 'utf8')).toBe('old')
  expect(await readFile(join(dataDir, 'blobs', '1', 'blob'), 'utf8')).toBe('bytes')
  expect((await readdir(dataDir)).sort()).toEqual(['.replaced', 'blobs', 'kith.db'])
}

test('moves the old away and the new to its place', async () => {
  await carryOutRestore(dataDir, plan)
  await expectRestored()
})

test.each([0, 1, 2, 3])('goes on after %i moves where it was interrupted', async (done) => {
  const reached = { ...plan, moves: plan.moves.slice(0, done), leftovers: [] }
  await carryOutRestore(dataDir, reached)
  await writeFile(join(dataDir, '.restoring.json'), JSON.stringify(plan))
  await finishRestore(dataDir)
  await expectRestored()
})

test('has nothing to do where nothing was begun', async () => {
  await finishRestore(dataDir)
  expect(await readFile(join(dataDir, 'kith.db'), 'utf8')).toBe('old')
})
