import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { makeDocument, StockClient } from '#harness/document-client.ts'
import { onPostgresServer } from '#harness/each-dialect.ts'
import { RedisServer, withRedis } from '#harness/redis-server.ts'
import { TestServer } from '#harness/test-server.ts'

const home = 'home.localhost'
const servers: TestServer[] = []
afterEach(async () => {
  for (const server of servers.splice(0).reverse()) await server.stop()
})

async function startTwo(env: Readonly<Record<string, string>>) {
  const first = await TestServer.start({ env })
  const { dataDir } = first.running.services.config
  const second = await TestServer.start({ env, dataDir, clock: first.clock })
  servers.push(first, second)
  const { fileId, token } = await makeDocument(first, home)
  const open = (server: TestServer) =>
    StockClient.open({ port: server.running.port, host: home }, fileId, { token }).synced()
  return { first, second, open }
}

withRedis('two processes of one server', () => {
  let shared: RedisServer
  beforeAll(async () => {
    shared = await RedisServer.start()
  })
  afterAll(() => shared.stop())

  test('show each other what is written in a document, and who is there', async () => {
    const { first, second, open } = await startTwo({ REDIS_URL: shared.url })
    // Until the processes hear each other hints are lost.
    for (const [from, to] of [[first, second] as const, [second, first] as const]) {
      let hasHeard = false
      const onMessage = () => {
        hasHeard = true
      }
      const end = to.running.services.nodeBus.subscribe('probe', { onMessage })
      await expect
        .poll(() => {
          from.running.services.nodeBus.publish('probe', '?')
          return hasHeard
        })
        .toBe(true)
      end()
    }
    await using here = await open(first)
    await using there = await open(second)
    here.text.insert(0, 'x')
    await expect.poll(() => there.text.toString()).toBe('x')
    there.text.insert(1, 'y')
    await expect.poll(() => here.text.toString()).toBe('xy')
    here.provider.awareness.setLocalStateField('user', { name: 'A' })
    await expect.poll(() => there.others).toEqual([{ user: { name: 'A', idTag: home } }])
    await here[Symbol.asyncDispose]()
    await expect.poll(() => there.others).toEqual([])
  })
})

onPostgresServer('several processes without Redis', (open) => {
  test('read what others have written within three seconds', async () => {
    const { url } = await open.place()
    const { first, second, open: join } = await startTwo({ DATABASE_URL: url })
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
