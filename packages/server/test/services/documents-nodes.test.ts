import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { makeDocument, StockClient } from '#harness/document-client.ts'
import { type OpenTestDatabase, onPostgresServer } from '#harness/each-dialect.ts'
import { RedisServer, withRedis } from '#harness/redis-server.ts'
import { TestServer } from '#harness/test-server.ts'
import { untilHeard } from './until-heard.ts'

const home = 'home.localhost'
const servers: TestServer[] = []
const stopAll = async () => {
  for (const server of servers.splice(0).reverse()) await server.stop()
}

async function startTwo(open: OpenTestDatabase, env: Readonly<Record<string, string>> = {}) {
  const { url } = await open.place()
  const first = await TestServer.start({ env: { DATABASE_URL: url, ...env } })
  const second = await TestServer.startBeside(first, env)
  servers.push(first, second)
  const { fileId, token } = await makeDocument(first, home)
  const join = (server: TestServer) =>
    StockClient.open({ port: server.running.port, host: home }, fileId, { token }).synced()
  return { first, second, join }
}

withRedis('two processes of one server', () =>
  onPostgresServer('with Redis', (open) => {
    // Before their schema goes.
    afterEach(stopAll)
    let shared: RedisServer
    beforeAll(async () => {
      shared = await RedisServer.start()
    })
    afterAll(() => shared.stop())

    test('show each other what is written in a document, and who is there', async () => {
      const { first, second, join } = await startTwo(open, { REDIS_URL: shared.url })
      await untilHeard(first, second)
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
  afterEach(stopAll)

  test('read what others have written within three seconds', async () => {
    const { first, second, join } = await startTwo(open)
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
