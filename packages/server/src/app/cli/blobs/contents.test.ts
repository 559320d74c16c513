import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createFile, getAccessToken } from '@kith/protocol'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { CommandLine } from '#harness/command-line.ts'
import { DatabaseDevice } from '#harness/database-client.ts'
import { TestServer } from '#harness/test-server.ts'

const idTag = 'home.localhost'

let source: CommandLine
let line: CommandLine
let fileId: string

/** A server with a document and a database that has an index and a history, as it lies on the disk. */
beforeAll(async () => {
  source = await CommandLine.open()
  await using server = await TestServer.start({ dataDir: source.dataDir })
  const client = await server.as(idTag)
  await client.call(createFile, { body: { fileTp: 'CRDT' } })
  fileId = (await client.call(createFile, { body: { fileTp: 'RTDB' } })).data.fileId
  const { token } = (await client.call(getAccessToken, {})).data
  await using device = await DatabaseDevice.connect(server, { idTag, fileId }, token)
  await device.ask('createIndex', { path: 'notes', field: 'tags' })
  for (let n = 0; n < 5; n += 1) await device.write('replace', `notes/${n}`, { n, tags: ['a', n] })
  await device.write('delete', 'notes/0')
  await device.write('update', 'notes/1', { tags: [] })
  server.clock.advance(3_600_000)
  await server.settle()
})
afterAll(() => source[Symbol.asyncDispose]())

beforeEach(async () => {
  line = await CommandLine.open()
  await cp(source.dataDir, line.dataDir, { recursive: true })
  return () => line[Symbol.asyncDispose]()
})

async function verify(...words: string[]) {
  const { exitCode, out } = await line.run(['blobs', 'verify', '--deep', ...words, '--json'])
  return { exitCode, ...JSON.parse(out) }
}

function spoil(statement: string): void {
  using database = new DatabaseSync(join(line.dataDir, 'kith.db'))
  database.exec(statement)
}

describe('blobs verify --deep', () => {
  test('reads documents, databases and their histories', async () => {
    expect(await verify()).toMatchObject({
      exitCode: 0,
      contents: { files: 2, snapshots: 1 },
      found: { unreadable: 0 },
    })
    expect((await line.run(['blobs', 'verify', '--deep', '--tenant', idTag])).out).toContain(
      'Read the content of 2 files and 1 snapshot: 0 unreadable.\n',
    )
  })

  test.each([
    ['a document that is no JSON', `update rtdb_documents set data = '{' where doc_id = '2'`, /JSON/],
    [
      'a document of another size',
      'update rtdb_documents set size = 3',
      /notes\/1 is no document of 3 bytes/,
    ],
    ['a document that is gone', `delete from rtdb_documents where doc_id = '2'`, /entries instead of/],
    ['entries that are gone', 'delete from rtdb_index_entries', /0 entries instead of/],
    ['a wrong count', 'update rtdb_databases set bytes = 7', /counts 7 bytes instead of/],
  ])('finds %s', async (_, statement, reason) => {
    spoil(statement)
    expect(await verify()).toMatchObject({
      exitCode: 1,
      found: { unreadable: 1 },
      problems: [{ kind: 'unreadable', tenant: idTag, fileId, reason: expect.stringMatching(reason) }],
    })
  })

  test.each([
    ['without its parts', 'delete from rtdb_snapshot_parts', /is not complete/],
    ['that is damaged', `update rtdb_snapshot_parts set data = x'00'`, /./],
  ])('finds a snapshot %s', async (_, statement, reason) => {
    spoil(statement)
    expect(await verify()).toMatchObject({
      exitCode: 1,
      problems: [{ fileId, seq: 7, reason: expect.stringMatching(reason) }],
    })
  })
})
