import { connectDocument } from '@kith/client/crdt'
import { expect, test } from 'vitest'
import { makeDocument, StockClient } from '#harness/document-client.ts'
import { SlowLink } from '#harness/slow-link.ts'
import { TestServer } from '#harness/test-server.ts'

const home = 'home.localhost'
// A tenth of 10 MB over 64 kB/s, ten times as fast.
const letters = 1_000_000
const bytesPerSec = 640_000

test('a document opens on a slow line: pings do not end it, and what others write meanwhile arrives', async () => {
  await using server = await TestServer.start()
  const { fileId, token } = await makeDocument(server, home)
  const { port } = server.running
  await using writer = await StockClient.open({ port, host: home }, fileId, { token }).synced()
  writer.text.insert(0, 'x'.repeat(letters))
  await using link = await SlowLink.open(port, bytesPerSec)
  const errors: Error[] = []
  const document = connectDocument({
    baseUrl: `http://127.0.0.1:${link.port}`,
    ...{ fileId, token },
    onRetry: ({ error }) => errors.push(error),
  })
  try {
    const text = document.doc.getText('text')
    for (const part of [0.25, 0.75]) {
      await expect.poll(() => link.receivedBytes, { interval: 5 }).toBeGreaterThan(letters * part)
      // The pong comes behind the document, which the system has taken from the server long ago.
      server.clock.advance(25_000)
      writer.text.insert(0, 'y')
    }
    expect(text.length).toBe(0)
    await document.saved()
    await expect.poll(() => text.length).toBe(letters + 2)
    expect(errors).toEqual([])
  } finally {
    document.close()
  }
})
