import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { TestServer } from '#harness/test-server.ts'

describe('a server that somebody lives on', () => {
  let dataDir: string
  let keyFile: string
  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'kith-vault-'))
    keyFile = join(dataDir, 'master.key')
    await (await TestServer.start({ dataDir })).stop()
  })
  afterEach(() => rm(dataDir, { recursive: true }))

  test('starts with its key, and makes no other in its place', async () => {
    const key = await readFile(keyFile)
    await (await TestServer.start({ dataDir })).stop()
    expect(await readFile(keyFile)).toEqual(key)
    await rm(keyFile)
    await expect(TestServer.start({ dataDir })).rejects.toMatchObject({
      problems: [{ variable: 'MASTER_KEY_FILE', message: `does not exist: ${keyFile}` }],
    })
    await expect(stat(keyFile)).rejects.toMatchObject({ code: 'ENOENT' })
  })

  test('refuses another key', async () => {
    const another = Buffer.alloc(32, 7).toString('base64')
    await writeFile(keyFile, another, { mode: 0o600 })
    const message = 'is another key than the one with which the database was written'
    await expect(TestServer.start({ dataDir })).rejects.toMatchObject({
      problems: [{ variable: 'MASTER_KEY_FILE', message }],
    })
    await expect(TestServer.start({ dataDir, env: { MASTER_KEY: another } })).rejects.toMatchObject({
      problems: [{ variable: 'MASTER_KEY', message }],
    })
  })
})
