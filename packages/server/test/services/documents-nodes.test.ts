import { expect, test } from 'vitest'
import { makeDocument, StockClient } from '#harness/document-client.ts'
import { onPostgresServer } from '#harness/each-dialect.ts'
import { withRedis } from '#harness/redis-server.ts'
import type { TestServer } from '#harness/test-server.ts'
import { redisOfSuite, twoProcesses } from './two-processes.ts'

const home = 'home.localhost'

/** A new document, and how a client joins it at a server. */
async function makeJoinable(at: TestServer) {
  const { fileId, token } = await makeDocument(at, home)
  return (server: TestServer) =>
    StockClient.open({ port: server.port, host: home }, fileId, { token }).synced()
}

withRedis('two processes of one server', () =>
  onPostgresServer('with Redis', (open) => {
    const start = twoProcesses(open)
    const redisUrl = redisOfSuite()

    test('show each other what is written in a document, and who is there', async () => {
      const { first, second } = await start(redisUrl())
      const join = await makeJoinable(first)
      await using here = await join(first)
      await using there = await join(second)
      here.text.insert(0, 'x')
      await expect.poll(() => there.text.toString()).toBe('x')
      there.text.insert(1, 'y')
      await expect.poll(() => here.text.toString()).toBe('xy')
      here.provider.awareness.setLocalStateField('user', { name: 'A' })
      await expect.poll(() => there.others).toEqual([{ user: { name: 'A', idTag: home } }])
      await here[Symbol.asyncDispose]()
      await expect.poll(() => there.others).toEqual([])
    })
  }),
)

onPostgresServer('several processes without Redis', (open) => {
  const start = twoProcesses(open)

  test('read what others have written within three seconds', async () => {
    const { first, second } = await start()
    const join = await makeJoinable(first)
    await using here = await join(first)
    await using there = await join(second)
    here.text.insert(0, 'hello')
    await expect.poll(() => here.text.length).toBe(5)
    await expect
      .poll(() => {
        first.clock.advance(3000)
        return there.text.toString()
      })
      .toBe('hello')
  })
})
