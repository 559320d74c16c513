import { createAction, getAccessToken, logout } from '@kith/protocol'
import { expect, test } from 'vitest'
import { BusDevice } from '#harness/bus-client.ts'
import { onPostgresServer } from '#harness/each-dialect.ts'
import { RedisServer, withRedis } from '#harness/redis-server.ts'
import type { TestServer } from '#harness/test-server.ts'
import { redisOfSuite, twoProcesses } from './two-processes.ts'

const home = 'home.localhost'
const hello = { type: 'POST', content: { text: 'Hello' } } as const

const connect = (server: TestServer, token: string) => BusDevice.connect(server, home, token)

withRedis('two processes of one server', () =>
  onPostgresServer('with Redis', (open) => {
    const start = twoProcesses(open)
    const redisUrl = redisOfSuite()

    test('tell the clients of the other what has happened', async () => {
      const { first, second } = await start(redisUrl())
      const token = await first.signIn(home)
      await using device = await connect(second, token)
      await first.client(home, token).call(createAction, { body: hello })
      await expect.poll(async () => (await device.told('ACTION')).length).toBe(1)
      expect((await device.told('ACTION'))[0]).toMatchObject({ seq: 1, data: { content: { text: 'Hello' } } })
      const another = await first.signIn(home)
      await expect.poll(async () => (await device.told('SESSION')).length).toBe(1)
      expect(another).toBeDefined()
    })

    test('end the sockets of what the other has revoked at once', async () => {
      const { first, second } = await start(redisUrl())
      const token = await first.signIn(home)
      await using device = await connect(second, token)
      first.clock.advance(1000)
      await first.client(home, token).call(logout, {})
      // The clock stands still: nobody has looked in between.
      expect((await device.client.closed).code).toBe(1008)
    })

    test('know who is connected to the other, and that a process which died is not', async () => {
      const { first, second } = await start(redisUrl())
      const token = await first.signIn(home)
      const { tenantId } = (await first.running.features.identity.tenants.find(home as never)) ?? {}
      const isThere = () => first.running.features.bus.isConnected(tenantId as never, home as never)
      const device = await connect(second, token)
      await expect.poll(isThere).toBe(true)
      await device[Symbol.asyncDispose]()
      await expect.poll(isThere).toBe(false)
      // A process that dies takes nothing back; its word is over after a while.
      second.running.services.nodeBus.mark(`present:${tenantId}:${home}`, first.clock.now() + 75_000)
      await expect.poll(isThere).toBe(true)
      first.clock.advance(75_000)
      expect(await isThere()).toBe(false)
    })

    test('lose nothing while Redis is away', async () => {
      await using redis = await RedisServer.start()
      const { first, second } = await start(redis.url)
      const token = await first.signIn(home)
      await using device = await connect(second, token)
      await redis.stop()
      await first.client(home, token).call(createAction, { body: hello })
      await first.running.features.bus.settled()
      second.clock.advance(3000)
      await expect.poll(async () => (await device.told('ACTION')).length).toBe(1)
      await redis.startAgain()
    })
  }),
)

onPostgresServer('several processes without Redis', (open) => {
  const start = twoProcesses(open)

  test('tell each other by the database, a little later', async () => {
    const { first, second } = await start()
    const client = await first.as(home)
    const { data } = await client.call(getAccessToken, {})
    await using device = await connect(second, data.token)
    await client.call(createAction, { body: hello })
    await first.running.features.bus.settled()
    second.clock.advance(3000)
    await expect.poll(async () => (await device.told('ACTION')).length).toBe(1)
  })
})
