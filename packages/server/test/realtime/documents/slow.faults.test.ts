import { afterAll, beforeAll, expect, test } from 'vitest'
import * as Y from 'yjs'
import { makeDocument, RawDocumentClient, StockClient } from '#harness/document-client.ts'
import { TestServer } from '#harness/test-server.ts'

const home = 'home.localhost'
// More than a system keeps of what a reader does not take.
const letters = 12_000_000
let server: TestServer
beforeAll(async () => {
  server = await TestServer.start()
})
afterAll(() => server.stop())

const open = (fileId: string, token: string) =>
  StockClient.open({ port: server.running.port, host: home }, fileId, { token })

test('a large document opens on a line that takes nothing for a while, but more than 1 MiB of others is not kept for it', async () => {
  const { fileId, token } = await makeDocument(server, home)
  await using writer = await open(fileId, token).synced()
  writer.text.insert(0, 'x'.repeat(letters))
  await using other = await open(fileId, token).synced()
  await expect.poll(() => other.text.length).toBe(letters)
  await using slow = await RawDocumentClient.open(server, home, fileId, `?token=${token}`)
  await slow.client.until(1)
  slow.client.socket.pause()
  slow.send('00000100')
  for (let at = 0; at < 10; at += 1) {
    other.text.insert(0, 'y')
    await expect.poll(() => writer.text.length).toBe(letters + at + 1)
  }
  slow.client.socket.resume()
  const doc = new Y.Doc()
  let seen = 0
  await expect
    .poll(
      () => {
        for (const update of slow.updates.slice(seen)) Y.applyUpdate(doc, update)
        seen = slow.updates.length
        return doc.getText('text').length
      },
      { interval: 200 },
    )
    .toBe(letters + 10)
  slow.client.socket.pause()
  slow.send('00000100')
  // Behind the answer that the line does not take.
  for (let at = 0; at < 3; at += 1) {
    other.text.insert(0, 'z'.repeat(1_000_000))
    await expect.poll(() => writer.text.length).toBe(letters + 10 + (at + 1) * 1_000_000)
  }
  slow.client.socket.resume()
  expect((await slow.client.closed).code).toBe(1013)
})
