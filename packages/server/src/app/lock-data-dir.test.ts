import { copyFile, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { TestClock } from '#harness/test-clock.ts'
import { readConfig } from '#infra/config/index.ts'
import { findRunningServer, lockDataDir } from './lock-data-dir.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kith-lock-'))
})
afterEach(() => rm(folder, { recursive: true }))

const clock = new TestClock()
const postgres = 'postgres://kith@127.0.0.1:1/kith'

function configOf(name: string, databaseUrl?: string) {
  return readConfig({ DATA_DIR: join(folder, name), ...(databaseUrl ? { DATABASE_URL: databaseUrl } : {}) })
}

describe('a DATA_DIR', () => {
  test('is that of one process, whatever the database', async () => {
    const config = configOf('one', postgres)
    const lock = await lockDataDir(config, clock)
    await symlink(config.dataDir, join(folder, 'link'))
    for (const name of ['one', 'link'])
      await expect(lockDataDir(configOf(name, postgres), clock)).rejects.toThrow(
        new RegExp(`DATA_DIR \\S+${name} is in use by process ${process.pid} on `),
      )
    await lock.announce('http://127.0.0.1:8080')
    expect(await findRunningServer(config)).toMatchObject({ heldBy: { url: 'http://127.0.0.1:8080' } })
    lock.close()
    expect(await findRunningServer(config)).toBeUndefined()
    ;(await lockDataDir(config, clock)).close()
  })

  test('is looked at by several at once, none of whom takes another for a server', async () => {
    const config = configOf('one')
    ;(await lockDataDir(config, clock)).close()
    const other = new DatabaseSync(join(config.dataDir, 'server.lock'))
    other.exec('begin; select count(*) from sqlite_schema')
    expect(await findRunningServer(config)).toBeUndefined()
    other.close()
  })

  test('is refused as well by a holder that could not describe itself', async () => {
    const config = configOf('one')
    const lock = await lockDataDir(config, clock)
    await rm(join(config.dataDir, 'server.json'))
    await expect(lockDataDir(config, clock)).rejects.toThrow(/is in use by another process\. Stop it first/)
    lock.close()
  })
})

test('a SQLite file outside of it is that of one process too', async () => {
  const shared = `sqlite:${join(folder, 'shared.db')}`
  const lock = await lockDataDir(configOf('one', shared), clock)
  await expect(lockDataDir(configOf('two', shared), clock)).rejects.toThrow(
    /DATABASE_URL \S+shared\.db is in use/,
  )
  // What it took before it was refused is free again.
  ;(await lockDataDir(configOf('two'), clock)).close()
  lock.close()
})

describe('the id of a process', () => {
  test('is another one at each start, which knows the former', async () => {
    const first = await lockDataDir(configOf('one'), clock)
    first.close()
    const second = await lockDataDir(configOf('one'), clock)
    second.close()
    expect(first.formerNodeId).toBeUndefined()
    expect(second.nodeId).not.toBe(first.nodeId)
    expect(second.formerNodeId).toBe(first.nodeId)
  })

  test('is no other one for a copy of the directory on another machine, whose original may run', async () => {
    const first = await lockDataDir(configOf('one'), clock)
    const [from, to] = ['one', 'copy'].map((name) => join(folder, name, 'server.json'))
    await mkdir(join(folder, 'copy'))
    await copyFile(from ?? '', to ?? '')
    const description = JSON.parse(await readFile(to ?? '', 'utf8'))
    await writeFile(to ?? '', JSON.stringify({ ...description, host: 'another-machine' }))
    const copy = await lockDataDir(configOf('copy'), clock)
    expect(copy.formerNodeId).toBeUndefined()
    copy.close()
    first.close()
  })
})
