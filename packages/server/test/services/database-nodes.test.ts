import { createFile, getAccessToken } from '@kith/protocol'
import { expect, test } from 'vitest'
import { DatabaseDevice } from '#harness/database-client.ts'
import { onPostgresServer } from '#harness/each-dialect.ts'
import { RedisServer, withRedis } from '#harness/redis-server.ts'
import type { TestServer } from '#harness/test-server.ts'
import { redisOfSuite, twoProcesses } from './two-processes.ts'

const home = 'home.localhost'

/** A new database, and how a device connects to it at a server. */
async function makeDatabase(at: TestServer) {
  const client = await at.as(home)
  const { data: file } = await client.call(createFile, { body: { fileTp: 'RTDB' } })
  const { data } = await client.call(getAccessToken, {})
  const place = { idTag: home, fileId: file.fileId }
  return (server: TestServer, query = '') => DatabaseDevice.connect(server, place, data.token, query)
}

const numbers = (events: readonly { readonly data: { readonly n: number } }[]) =>
  events.map(({ data }) => data.n)
const upTo = (count: number) => Array.from({ length: count }, (_, at) => at)

withRedis('two processes of one server', () =>
  onPostgresServer('with Redis', (open) => {
    const start = twoProcesses(open)
    const redisUrl = redisOfSuite()

    test('tell their clients what is written at either, in one order', async () => {
      const { first, second } = await start(redisUrl())
      const connect = await makeDatabase(first)
      await using one = await connect(first)
      await using two = await connect(second)
      const atOne = await one.subscribe('posts')
      const atTwo = await two.subscribe('posts')
      await Promise.all(upTo(40).map((n) => (n % 2 ? one : two).write('replace', `posts/${n % 7}`, { n })))
      await expect.poll(async () => (await one.told(first, atOne.id)).length).toBe(40)
      await expect.poll(async () => (await two.told(second, atTwo.id)).length).toBe(40)
      expect(two.events(atTwo.id)).toEqual(one.events(atOne.id))
    })

    test('know the locks and the people of the other', async () => {
      const { first, second } = await start(redisUrl())
      const connect = await makeDatabase(first)
      await using one = await connect(first, 'presence=1')
      await using two = await connect(second, 'presence=1')
      const atTwo = await two.subscribe('posts')
      await one.ask('presence', { state: { at: 1 } })
      await expect.poll(() => two.presence.at(-1)).toMatchObject({ action: 'join', state: { at: 1 } })
      await one.ask('lock', { path: 'posts/a', mode: 'hard' })
      await expect.poll(async () => (await two.told(second, atTwo.id)).length).toBe(1)
      await one[Symbol.asyncDispose]()
      await expect
        .poll(async () => (await two.told(second, atTwo.id)).map(({ action }) => action))
        .toEqual(['lock', 'unlock'])
      await expect.poll(() => two.presence.at(-1)).toMatchObject({ action: 'leave' })
    })

    test('lose nothing while Redis is away', async () => {
      await using redis = await RedisServer.start()
      const { first, second } = await start(redis.url)
      const connect = await makeDatabase(first)
      await using one = await connect(first)
      await using two = await connect(second)
      const atTwo = await two.subscribe('posts')
      await one.write('create', 'posts', { n: 0 })
      await expect.poll(async () => (await two.told(second, atTwo.id)).length).toBe(1)
      await redis.stop()
      for (const n of [1, 2]) await one.write('create', 'posts', { n })
      await one.ask('lock', { path: 'posts' })
      await redis.startAgain()
      await expect.poll(async () => (await two.told(second, atTwo.id)).length).toBe(4)
      const written = two.events(atTwo.id).filter(({ action }) => action === 'create')
      expect(numbers(written)).toEqual([0, 1, 2])
    })
  }),
)

onPostgresServer('several processes without Redis', (open) => {
  const start = twoProcesses(open)

  test('tell each other by the database, a little later', async () => {
    const { first, second } = await start()
    const connect = await makeDatabase(first)
    await using one = await connect(first)
    await using two = await connect(second)
    const atTwo = await two.subscribe('posts')
    for (const n of upTo(5)) await one.write('create', 'posts', { n })
    await one.ask('lock', { path: 'posts/a' })
    second.clock.advance(3000)
    await expect.poll(async () => (await two.told(second, atTwo.id)).length).toBe(6)
    const written = two.events(atTwo.id).filter(({ action }) => action === 'create')
    expect(numbers(written)).toEqual(upTo(5))
    await one.ask('unlock', { path: 'posts/a' })
    second.clock.advance(3000)
    await expect
      .poll(async () => (await two.told(second, atTwo.id)).at(-1))
      .toMatchObject({ action: 'unlock', path: 'posts/a' })
  })
})
