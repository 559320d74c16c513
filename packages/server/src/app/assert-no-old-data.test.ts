import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { CommandLine } from '#harness/command-line.ts'
import { TestServer } from '#harness/test-server.ts'

let dataDir: string
let keyFile: string
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'kith-old-'))
  keyFile = join(dataDir, 'master.key')
})
afterEach(() => rm(dataDir, { recursive: true }))

async function removeDatabase(): Promise<void> {
  for (const name of await readdir(dataDir))
    if (name.startsWith('kith.db')) await rm(join(dataDir, name), { recursive: true })
}

function refusalBecause(reason: string) {
  return { problems: [{ variable: 'DATABASE_URL', message: expect.stringContaining(reason) }] }
}

test('a server does not begin anew beside the key of a database that is missing, however often it is started', async () => {
  await (await TestServer.start({ dataDir })).stop()
  await removeDatabase()
  const refusal = refusalBecause(`${keyFile} is the key of an older one`)
  await expect(TestServer.start({ dataDir })).rejects.toMatchObject(refusal)
  // As a supervisor does at once.
  await expect(TestServer.start({ dataDir })).rejects.toMatchObject(refusal)
  await rm(keyFile)
  await (await TestServer.start({ dataDir })).stop()
})

test('nor beside the files of one, with a key from elsewhere', async () => {
  const env = { MASTER_KEY: Buffer.alloc(32, 7).toString('base64') }
  await mkdir(join(dataDir, 'blobs', '12'), { recursive: true })
  const refusal = refusalBecause(`${join(dataDir, 'blobs')} has the files of an older one`)
  await expect(TestServer.start({ dataDir, env })).rejects.toMatchObject(refusal)
})

test('a first start that was cut off when it had made database and key goes on', async () => {
  await using line = await CommandLine.open()
  await line.json('migrate')
  expect(await readdir(line.dataDir)).toEqual(expect.arrayContaining(['kith.db', 'master.key']))
  await (await TestServer.start({ dataDir: line.dataDir })).stop()
})
