import * as encoding from 'lib0/encoding'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Awareness, encodeAwarenessUpdate } from 'y-protocols/awareness'
import * as Y from 'yjs'
import {
  makeDocument,
  RawDocumentClient,
  StockClient,
  type StockVersion,
  stockVersions,
} from '#harness/document-client.ts'
import { TestServer } from '#harness/test-server.ts'

const home = 'home.localhost'
// What a connection may write in a minute: 64 MiB, of which each edit counts for a KiB.
const editsOfMinute = 65_536
// 256 MiB, of which each answer counts for 16 KiB.
const answersOfMinute = 16_384
// After a second, at which two were owed; one more than there is.
const earnedInSecond = 1091
let server: TestServer
beforeAll(async () => {
  server = await TestServer.start()
})
afterAll(() => server.stop())

const open = (fileId: string, token?: string, version: StockVersion = '3.1') =>
  StockClient.open({ port: server.port, host: home }, fileId, {
    version,
    ...(token === undefined ? {} : { token }),
  }).synced()

/** The awareness message of these bytes. */
function framed(update: Uint8Array): Uint8Array {
  const encoder = encoding.createEncoder()
  encoding.writeVarUint(encoder, 1)
  encoding.writeVarUint8Array(encoder, update)
  return encoding.toUint8Array(encoder)
}

function entriesOf(
  entries: readonly (readonly [client: number, clock: number, state: string])[],
): Uint8Array {
  const encoder = encoding.createEncoder()
  encoding.writeVarUint(encoder, entries.length)
  for (const [client, clock, state] of entries) {
    encoding.writeVarUint(encoder, client)
    encoding.writeVarUint(encoder, clock)
    encoding.writeVarString(encoder, state)
  }
  return encoding.toUint8Array(encoder)
}

/** Edits of one character each. */
function type({ text }: StockClient, edits: number): void {
  for (let at = 0; at < edits; at += 1) text.insert(text.length, 'x')
}

/** Resolves when this client was told of so many characters. */
const told = ({ text }: StockClient, length: number) =>
  expect.poll(() => text.length, { interval: 10, timeout: 120_000 }).toBe(length)

/** Edits by one client, each of which waits until another was told of the one before. */
async function roundTrips(from: StockClient, to: StockClient): Promise<void> {
  const [sent, heard] = [from.doc.getText('others'), to.doc.getText('others')]
  for (const _trip of [1, 2, 3]) {
    sent.insert(0, 'y')
    await expect.poll(() => heard.length, { interval: 10 }).toBe(sent.length)
  }
}

test('the edits of a minute come at once, and those above when their time has come', async () => {
  const { fileId, token } = await makeDocument(server, home, { visibility: 'P' })
  const writer = await open(fileId, token)
  await using reader = await open(fileId)
  type(writer, editsOfMinute + 1)
  await told(reader, editsOfMinute + 1)
  // It owes one: what it says now waits for its time.
  type(writer, 1)
  await using other = await open(fileId, token)
  await roundTrips(other, reader)
  expect(reader.text.length).toBe(editsOfMinute + 1)
  server.clock.advance(1000)
  await told(reader, editsOfMinute + 2)

  // What a client has said that is gone when its time comes is not shown.
  writer.provider.awareness.setLocalState(null)
  type(writer, earnedInSecond)
  await told(reader, editsOfMinute + 2 + earnedInSecond)
  writer.provider.awareness.setLocalState({ cursor: 1 })
  const isGone = new Promise((resolve) => writer.provider.once('connection-close', resolve))
  await writer[Symbol.asyncDispose]()
  await isGone
  await roundTrips(other, reader)
  server.clock.advance(1000)
  await using late = await open(fileId)
  // Others say now and then that they are still there.
  expect(late.others).not.toContainEqual({ cursor: 1 })
  expect(late.text.length).toBe(reader.text.length)
})

test('a client that sends back what it is told, or says again what it has said, may still write and show itself', async () => {
  const { fileId, token } = await makeDocument(server, home)
  await using writer = await RawDocumentClient.open(server, home, fileId, `?token=${token}`)
  await using other = await RawDocumentClient.open(server, home, fileId, `?token=${token}`)
  const state = (client: number, clock: number) => `01070${'1'}0${client}0${clock}03226122`
  const shownTo = ({ frames }: RawDocumentClient) => frames.filter((frame) => frame.startsWith('01'))
  other.send(state(5, 1))
  await expect.poll(() => shownTo(writer)).toEqual([state(5, 1)])
  writer.send(state(6, 1))
  for (let at = 0; at < 4000; at += 1) for (const sent of [state(5, 1), state(6, 1)]) writer.send(sent)
  writer.send(state(6, 2))
  await expect.poll(() => shownTo(other)).toEqual([state(5, 1), state(6, 1), state(6, 2)])
  await writer.caughtUp()
})

test('answers of a minute come at once, and those above when their time has come', async () => {
  const { fileId, token } = await makeDocument(server, home)
  await using asker = await RawDocumentClient.open(server, home, fileId, `?token=${token}`)
  await using other = await RawDocumentClient.open(server, home, fileId, `?token=${token}`)
  const answers = () => asker.frames.filter((frame) => frame.startsWith('01')).length
  for (let at = 0; at < answersOfMinute + 100; at += 1) asker.send('03')
  await expect.poll(answers).toBe(answersOfMinute + 1)
  for (const _trip of [1, 2, 3]) await other.caughtUp()
  expect(answers()).toBe(answersOfMinute + 1)
  server.clock.advance(1000)
  await expect.poll(answers).toBe(answersOfMinute + 100)
})

test('what stock clients are told of awareness they may send back', async () => {
  const { fileId } = await makeDocument(server, home, { visibility: 'P' })
  const watchers = await Promise.all(stockVersions.map((version) => open(fileId, undefined, version)))
  let closes = 0
  for (const { provider } of watchers) provider.on('connection-close', () => (closes += 1))
  await using guest = await RawDocumentClient.open(server, home, fileId)
  const shown = new Awareness(new Y.Doc())
  const show = (clients: number, state: object, clock: number) => {
    const ids = Array.from({ length: clients }, (_, at) => 1000 + at)
    for (const id of ids) {
      shown.states.set(id, state)
      shown.meta.set(id, { clock, lastUpdated: 0 })
    }
    guest.client.send(framed(encodeAwarenessUpdate(shown, ids)))
  }
  for (let clock = 1; clock <= 12; clock += 1) {
    // Numbers that are longer when they are written anew.
    const numbers = `[${Array(3200).fill('1e20')}]`
    const state = `{"user":{"idTag":"eve.localhost"},"a":${numbers}}`
    guest.client.send(framed(entriesOf(Array.from({ length: 8 }, (_, at) => [at + 1, clock, state]))))
    show(8, { text: 'x'.repeat(16_000) }, clock)
    server.clock.advance(1000)
  }
  await guest.caughtUp()
  for (let time = 0; time < 12; time += 1) {
    await using passing = await RawDocumentClient.open(server, home, fileId)
    passing.client.send(framed(entriesOf([[2000 + time, 2 ** 52, '{}']])))
    await passing.caughtUp()
  }
  for (const watcher of watchers) {
    await expect.poll(() => watcher.others.filter((state) => 'text' in (state as object)).length).toBe(8)
    await watcher[Symbol.asyncDispose]()
  }
  shown.destroy()
  expect(closes).toBe(watchers.length)
})

test('edits that a client has sent before it closed are written', async () => {
  const { fileId, token } = await makeDocument(server, home)
  await using reader = await open(fileId, token)
  const writer = await open(fileId, token)
  type(writer, 3000)
  await writer[Symbol.asyncDispose]()
  await told(reader, 3000)
})
