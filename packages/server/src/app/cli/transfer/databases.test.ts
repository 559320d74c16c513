import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createFile, getAccessToken, listFileHistory, restoreFileSnapshot } from '@kith/protocol'
import { expect, test } from 'vitest'
import { CommandLine } from '#harness/command-line.ts'
import { DatabaseDevice } from '#harness/database-client.ts'
import { TestServer } from '#harness/test-server.ts'

const idTag = 'alice.localhost'

async function openDatabase(server: TestServer, fileId: string) {
  const client = await server.as(idTag)
  const { token } = (await client.call(getAccessToken, {})).data
  return { client, device: await DatabaseDevice.connect(server, { idTag, fileId }, token) }
}

/** A database with an index, a snapshot of two documents, and a third since. */
async function makeDatabase(server: TestServer): Promise<string> {
  await server.createTenant(idTag)
  const made = await (await server.as(idTag)).call(createFile, { body: { fileTp: 'RTDB' } })
  const { fileId } = made.data
  const { device } = await openDatabase(server, fileId)
  await device.ask('createIndex', { path: 'notes', field: 'n' })
  for (const n of [1, 2]) await device.write('replace', `notes/${n}`, { n })
  await device[Symbol.asyncDispose]()
  server.clock.advance(3_600_000)
  await server.settle()
  const again = await openDatabase(server, fileId)
  await again.device.write('replace', 'notes/3', { n: 3 })
  return fileId
}

/** How many rows of databases there are in each table. */
function rowsOfDatabases(line: CommandLine): Record<string, number> {
  using database = new DatabaseSync(join(line.dataDir, 'kith.db'))
  const tables = database.prepare(
    `select name from sqlite_schema where type = 'table' and name like 'rtdb_%'`,
  )
  const count = ({ name }: { name: string }) =>
    [name, Number(database.prepare(`select count(*) as n from ${name}`).get()?.n)] as const
  return Object.fromEntries((tables.all() as { name: string }[]).map(count))
}

test('a database moves with its indexes and its history, and is purged with its tenant', async () => {
  await using here = await CommandLine.open()
  await using there = await CommandLine.open()
  const path = join(here.folder, 'alice.tar')
  const server = await TestServer.start({ dataDir: here.dataDir })
  const fileId = await makeDatabase(server)
  await server.stop()
  await here.json('export', idTag, '--to', path)
  expect((await there.run(['import', path])).err).toBe('')
  expect(await there.json('blobs', 'verify', '--deep')).toMatchObject({
    contents: { files: 1, snapshots: 1 },
    found: { unreadable: 0 },
  })

  const moved = await TestServer.start({ dataDir: there.dataDir })
  const { client, device } = await openDatabase(moved, fileId)
  const listening = await device.subscribe('notes', { filter: { greaterThan: { n: 0 } } })
  expect(listening.ready).toEqual([1, 2, 3].map((n) => ({ id: String(n), n })))
  const { data: history } = await client.call(listFileHistory, { params: { fileId } })
  expect(history).toHaveLength(1)
  await client.call(restoreFileSnapshot, { params: { fileId, seq: history[0]?.seq ?? 0 } })
  expect(await device.told(moved, listening.id)).toEqual([{ action: 'delete', path: 'notes/3' }])
  await moved.stop()

  const before = rowsOfDatabases(there)
  expect(before).toMatchObject({ rtdb_databases: 1, rtdb_documents: 2, rtdb_indexes: 1, rtdb_snapshots: 2 })
  await there.json('tenant', 'suspend', idTag)
  await there.json('tenant', 'purge', idTag, '--yes')
  expect(rowsOfDatabases(there)).toEqual(Object.fromEntries(Object.keys(before).map((name) => [name, 0])))
})
