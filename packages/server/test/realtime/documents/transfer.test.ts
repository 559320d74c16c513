import { join } from 'node:path'
import {
  deleteFile,
  downloadFile,
  type FileId,
  getFileSnapshot,
  getUsage,
  listFileHistory,
  restoreFileSnapshot,
} from '@kith/protocol'
import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { CommandLine } from '#harness/command-line.ts'
import { makeDocument, StockClient } from '#harness/document-client.ts'
import { TestClock } from '#harness/test-clock.ts'
import { TestServer } from '#harness/test-server.ts'

const aliceTag = 'alice.localhost'
const hourMs = 3_600_000
const tables = ['crdt_documents', 'crdt_updates', 'crdt_snapshots', 'crdt_snapshot_parts'] as const
const empty = Object.fromEntries(tables.map((table) => [table, 0]))

const clock = new TestClock()

async function textOf(response: Response): Promise<string> {
  const doc = new Y.Doc()
  Y.applyUpdate(doc, new Uint8Array(await response.arrayBuffer()))
  return `${doc.getText('text')}`
}

async function write(server: TestServer, fileId: FileId, token: string, text: string): Promise<void> {
  const at = { port: server.running.port, host: aliceTag }
  await using writer = await StockClient.open(at, fileId, { token }).synced()
  await using reader = await StockClient.open(at, fileId, { token }).synced()
  writer.text.insert(writer.text.length, text)
  await expect.poll(() => `${reader.text}`).toContain(text)
}

/** Everything that is kept of a document, with its history as texts. */
async function contentOf(server: TestServer, fileId: FileId) {
  const client = await server.as(aliceTag)
  const { data: history } = await client.call(listFileHistory, { params: { fileId } })
  const past = history.map(async (snapshot) => {
    const { data } = await client.call(getFileSnapshot, { params: { fileId, seq: snapshot.seq } })
    return { ...snapshot, text: await textOf(data) }
  })
  const { data } = await client.call(downloadFile, { params: { fileId } })
  const { data: usage } = await client.call(getUsage, {})
  return { text: await textOf(data), history: await Promise.all(past), usage }
}

test('a document moves to another server with its history, and is removed there with everything', async () => {
  await using here = await CommandLine.open()
  await using there = await CommandLine.open()
  const file = join(here.folder, 'alice.tar')
  const { fileId, before } = await made(here)
  await here.json('export', aliceTag, '--to', file)
  await there.json('import', file)
  await using server = await TestServer.start({ dataDir: there.dataDir, clock })
  expect(await contentOf(server, fileId)).toEqual(before)
  expect(before.text).toBe('one two three')
  expect(before.history.map(({ text }) => text)).toEqual(['one two three', 'one two ', 'one '])
  expect(before.usage.usedBytes).toBeGreaterThan(0)

  const client = await server.as(aliceTag)
  const oldest = before.history.at(-1)?.seq ?? 0
  await client.call(restoreFileSnapshot, { params: { fileId, seq: oldest } })
  expect((await contentOf(server, fileId)).text).toBe('one ')
  expect(await server.countRows(...tables)).not.toMatchObject(empty)

  await client.call(deleteFile, { params: { fileId } })
  expect((await client.call(getUsage, {})).data).toMatchObject({ files: 1 })
  await client.call(deleteFile, { params: { fileId }, query: { permanent: true } })
  expect((await client.call(getUsage, {})).data).toMatchObject({ files: 0, usedBytes: 0 })
  for (let minute = 0; minute < 10; minute += 1) {
    clock.advance(60_000)
    await server.settle()
  }
  expect(await server.countRows(...tables)).toEqual(empty)
})

/** A document of Alice that was written in three hours. */
async function made(place: CommandLine) {
  await using server = await TestServer.start({ dataDir: place.dataDir, clock })
  await server.createTenant(aliceTag)
  const { fileId, token } = await makeDocument(server, aliceTag)
  const client = await server.as(aliceTag)
  for (const [at, text] of ['one ', 'two ', 'three'].entries()) {
    await write(server, fileId, token, text)
    // Two seconds after its last reader has gone, which the server sees a moment later than the test.
    const countSnapshots = async () => {
      clock.advance(2000)
      await server.running.features.realtime.settled()
      return (await client.call(listFileHistory, { params: { fileId } })).data.length
    }
    await expect.poll(countSnapshots).toBe(at + 1)
    clock.advance(hourMs)
  }
  return { fileId, before: await contentOf(server, fileId) }
}
