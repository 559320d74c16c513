import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeDocument, RawDocumentClient, StockClient } from '#harness/document-client.ts'
import { TestServer } from '#harness/test-server.ts'

const home = 'home.localhost'
// What a connection may write in a minute: 64 MiB, of which each edit counts for a KiB.
const editsOfMinute = 65_536
// After a second, at which two were owed; one more than there is.
const earnedInSecond = 1091
let server: TestServer
beforeAll(async () => {
  server = await TestServer.start()
})
afterAll(() => server.stop())

const open = (fileId: string, token?: string) =>
  StockClient.open({ port: server.port, host: home }, fileId, token === undefined ? {} : { token }).synced()

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
  expect([late.text.length, late.others]).toEqual([reader.text.length, []])
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
