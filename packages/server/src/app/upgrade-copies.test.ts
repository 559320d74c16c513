import { mkdtemp, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { TestClock } from '#harness/test-clock.ts'
import { readConfig } from '#infra/config/index.ts'
import { listAppliedMigrations, openDatabase, serverTenant } from '#infra/db/index.ts'
import { silentLogger } from '#infra/telemetry/index.ts'
import { migrations } from './migrations.ts'
import { openServices } from './services.ts'
import { copyBeforeUpgrade, listUpgradeCopies } from './upgrade-copies.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kith-upgrade-'))
})
afterEach(() => rm(folder, { recursive: true }))

const clock = new TestClock()
const older = migrations.slice(0, -1)
const lastOlder = older.at(-1)?.id
const config = () => readConfig({ DATA_DIR: folder })
const url = () => `sqlite:${join(folder, 'kith.db')}`
const start = async () => (await openServices(config(), { clock, logger: silentLogger })).close()

test('a database is copied before it is brought up to date, and as that copy an older program takes it', async () => {
  await (await openDatabase({ url: url(), migrations: older })).close()
  await start()
  const [copy, ...more] = await listUpgradeCopies(config())
  expect(more).toEqual([])
  expect(copy).toMatchObject({ lastMigration: lastOlder })
  const path = copy?.path ?? ''
  expect((await stat(path)).mode & 0o777).toBe(0o600)

  // Going back: the older program refuses what the newer one has changed, and takes the copy.
  await expect(openDatabase({ url: url(), migrations: older })).rejects.toThrow(
    /which this program does not know/,
  )
  await rename(path, join(folder, 'kith.db'))
  const back = await openDatabase({ url: url(), migrations: older })
  expect(await back.integrityCheck()).toEqual([])
  await back.close()
})

test('nothing is copied of a new database, and of one that is up to date', async () => {
  await start()
  await start()
  expect(await readdir(folder)).not.toContain('before-upgrade')
})

test('the refusal of a newer database names the copy that fits', async () => {
  const later = { id: '9999_later', up: async () => undefined }
  const db = await openDatabase({ url: url(), migrations })
  await copyBeforeUpgrade(config(), db, {
    lastMigration: migrations.at(-1)?.id ?? '',
    clock,
    logger: silentLogger,
  })
  await db.close()
  const [copy] = await listUpgradeCopies(config())
  await (await openDatabase({ url: url(), migrations: [...migrations, later] })).close()
  await expect(start()).rejects.toThrow(
    `The database has the migration 9999_later, which this program does not know. Run the version that did, or put back the copy from before the upgrade, ${copy?.path};`,
  )
})

test('the newest two copies stay, and what a copy that was cut off has left goes', async () => {
  const db = await openDatabase({ url: url(), migrations })
  for (const lastMigration of ['0001_a', '0002_b', '0003_c']) {
    clock.advance(1000)
    await copyBeforeUpgrade(config(), db, { lastMigration, clock, logger: silentLogger })
  }
  await db.close()
  const kept = await listUpgradeCopies(config())
  expect(kept.map(({ lastMigration }) => lastMigration)).toEqual(['0003_c', '0002_b'])
})

test('a database of which no copy can be made is left as it is', async () => {
  const before = await openDatabase({ url: url(), migrations: older })
  const observers = { clock, logger: silentLogger, lastMigration: '0001_a' }
  const noRoom = copyBeforeUpgrade(config(), before, { ...observers, findFreeBytes: async () => 1024 })
  await expect(noRoom).rejects.toThrow(
    /before-upgrade has 1 MiB left of \d+ MiB that it takes\. Make room, or .*: kith migrate --without-copy$/,
  )
  await before.close()

  await rm(join(folder, 'before-upgrade'), { recursive: true })
  await writeFile(join(folder, 'before-upgrade'), '')
  await expect(start()).rejects.toThrow('EEXIST')
  const db = await openDatabase({ url: url(), migrations, schema: 'as it is' })
  expect(await listAppliedMigrations(db.reader(serverTenant))).toHaveLength(older.length)
  await db.close()
})
