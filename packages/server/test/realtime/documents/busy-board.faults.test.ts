import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeDocument, StockClient, type StockVersion, stockVersions } from '#harness/document-client.ts'
import { TestServer } from '#harness/test-server.ts'

const home = 'home.localhost'
const people = 10
const movesPerSecond = 20
const seconds = 80
let server: TestServer
beforeAll(async () => {
  server = await TestServer.start()
})
afterAll(() => server.stop())

/** Resolves when this client was told of so many characters. */
function told({ doc, text }: StockClient, length: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const look = () => {
    if (text.length < length) return
    doc.off('update', look)
    resolve()
  }
  doc.on('update', look)
  look()
  return promise
}

test('on a board on which ten people move their cursors for 80 seconds, each edit comes before any time passes', async () => {
  const { fileId, token } = await makeDocument(server, home, { visibility: 'P' })
  await using clients = new AsyncDisposableStack()
  const board: StockClient[] = []
  for (let at = 0; at < people; at += 1) {
    const version = stockVersions[at % stockVersions.length] as StockVersion
    const client = StockClient.open({ port: server.port, host: home }, fileId, { token, version })
    board.push(await clients.use(client).synced())
  }
  for (let move = 1; move <= seconds * movesPerSecond; move += 1) {
    for (const { provider } of board) provider.awareness.setLocalStateField('cursor', move)
    const { text } = board[move % people] as StockClient
    text.insert(text.length, 'x')
    await Promise.all(board.map((client) => told(client, move)))
    server.clock.advance(1000 / movesPerSecond)
  }
  server.clock.advance(1000)
  const cursors = () => board.map(({ others }) => others.map((state) => (state as { cursor: number }).cursor))
  const last = Array.from({ length: people - 1 }, () => seconds * movesPerSecond)
  await expect.poll(cursors).toEqual(board.map(() => last))
})
