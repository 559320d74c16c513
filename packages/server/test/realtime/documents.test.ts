import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeDocument, StockClient, stockVersions } from '#harness/document-client.ts'
import { TestServer } from '#harness/test-server.ts'

const home = 'home.localhost'
let server: TestServer
beforeAll(async () => {
  server = await TestServer.start()
})
afterAll(() => server.stop())

describe.each(stockVersions)('the stock client of version %i', (version) => {
  const open = (fileId: string, token: string) =>
    StockClient.open({ port: server.running.port, host: home }, fileId, { version, token })

  test('sees what others write, and finds it when it comes later', async () => {
    const { fileId, token } = await makeDocument(server, home)
    await using alice = await open(fileId, token).synced()
    await using bob = await open(fileId, token).synced()
    expect(alice.doc.getMap('meta').toJSON()).toEqual({ i: true })
    alice.text.insert(0, 'hello')
    await expect.poll(() => bob.text.toString()).toBe('hello')
    bob.text.insert(5, ' world')
    await expect.poll(() => alice.text.toString()).toBe('hello world')
    await using carol = await open(fileId, token).synced()
    expect(carol.text.toString()).toBe('hello world')
  })
})
