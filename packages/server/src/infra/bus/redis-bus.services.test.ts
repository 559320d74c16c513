import { createSecretKey, randomBytes } from 'node:crypto'
import { Redis } from 'ioredis'
import { afterEach, expect, test } from 'vitest'
import { busContract, listen } from '#harness/bus-contract.ts'
import { RedisServer, withRedis } from '#harness/redis-server.ts'
import { TestClock } from '#harness/test-clock.ts'
import { openVault } from '#infra/keys/index.ts'
import type { NodeBus } from './node-bus.ts'
import { openRedisBus } from './redis-bus.ts'

const opened: NodeBus[] = []
afterEach(async () => {
  for (const bus of opened.splice(0)) await bus[Symbol.asyncDispose]()
})

interface Line {
  readonly level: 'warn' | 'info'
  readonly message: string
}

const vault = openVault({ masterKey: createSecretKey(Buffer.alloc(32, 7)) })

async function openAt(redisUrl: string, prefix: string, clock = new TestClock()) {
  const logged: Line[] = []
  const logger = {
    warn: (_: object, message: string) => logged.push({ level: 'warn', message }),
    info: (_: object, message: string) => logged.push({ level: 'info', message }),
  }
  const bus = await openRedisBus({ redisUrl, clock, logger, prefix, vault })
  opened.push(bus)
  return { bus, logged }
}

/** Resolves when what one publishes reaches the other. */
async function untilHeard(from: NodeBus, to: NodeBus): Promise<void> {
  // What `to` publishes itself it hears at once.
  const channel = `probe ${randomBytes(6).toString('hex')}`
  const probe = listen(to, channel)
  await expect
    .poll(
      () => {
        from.publish(channel, '?')
        return probe.heard.length > 0
      },
      { interval: 20 },
    )
    .toBe(true)
  probe.end()
}

/** Resolves when marks arrive: before its connection is there they are dropped. */
async function untilMarks(bus: NodeBus, clock: TestClock): Promise<void> {
  const isMarked = async () => {
    bus.mark('probe', clock.now() + 60_000)
    return await bus.isMarked('probe')
  }
  await expect.poll(isMarked).toBe(true)
}

withRedis('the bus of processes that share a Redis', (redisUrl) => {
  const fresh = () => `kith:test:${randomBytes(6).toString('hex')}`
  busContract(async (clock) => {
    const { bus } = await openAt(redisUrl, fresh(), clock)
    await untilMarks(bus, clock)
    return bus
  })

  test('a message reaches each process once, its own included', async () => {
    const prefix = fresh()
    const [{ bus: one }, { bus: two }] = [await openAt(redisUrl, prefix), await openAt(redisUrl, prefix)]
    const [here, there] = [listen(one, 'a'), listen(two, 'a')]
    await untilHeard(one, two)
    one.publish('a', 'hello')
    await expect.poll(() => there.heard).toEqual(['hello'])
    expect(here.heard).toEqual(['hello'])
  })

  test('what others write to a channel is not heard, ends nothing, and is told once', async () => {
    const prefix = fresh()
    const { bus, logged } = await openAt(redisUrl, prefix)
    const { bus: other } = await openAt(redisUrl, prefix)
    const { heard } = listen(bus, 'a')
    await untilHeard(other, bus)
    const stranger = new Redis(redisUrl)
    for (const text of ['x', 'node {"seq":9}', '']) await stranger.publish(`${prefix}:a`, text)
    stranger.disconnect()
    other.publish('a', 'real')
    await expect.poll(() => heard).toEqual(['real'])
    expect(logged.map(({ level }) => level)).toEqual(['warn'])
  })

  test('a mark of one process is seen by the others, and stays while another has it as well', async () => {
    const prefix = fresh()
    const clock = new TestClock()
    const [one, two] = [await openAt(redisUrl, prefix, clock), await openAt(redisUrl, prefix, clock)]
    await Promise.all([untilHeard(one.bus, two.bus), untilHeard(two.bus, one.bus)])
    for (const { bus } of [one, two]) bus.mark('alice', clock.now() + 60_000)
    await expect.poll(() => two.bus.isMarked('alice')).toBe(true)
    one.bus.unmark('alice')
    await untilHeard(one.bus, two.bus)
    expect(await one.bus.isMarked('alice')).toBe(true)
    two.bus.unmark('alice')
    await expect.poll(() => one.bus.isMarked('alice')).toBe(false)
  })

  test('a Redis that is away is no failure, is told once, and is found again', async () => {
    await using redis = await RedisServer.start()
    const prefix = fresh()
    const [one, two] = [await openAt(redis.url, prefix), await openAt(redis.url, prefix)]
    const kept = listen(two.bus, 'kept')
    await untilHeard(one.bus, two.bus)
    await redis.stop()
    await expect.poll(() => [one.logged.length, two.logged.length]).toEqual([1, 1])
    const here = listen(one.bus, 'here')
    one.bus.publish('here', 'still')
    expect(here.heard).toEqual(['still'])
    expect(await one.bus.isMarked('anything')).toBe(false)
    await redis.startAgain()
    await untilHeard(one.bus, two.bus)
    await expect.poll(() => kept.gaps()).toBe(1)
    one.bus.publish('kept', 'again')
    await expect.poll(() => kept.heard).toEqual(['again'])
    // A subscription that was made while Redis was away counts as well.
    await untilHeard(two.bus, one.bus)
    two.bus.publish('here', 'from afar')
    await expect.poll(() => here.heard).toEqual(['still', 'from afar'])
    await expect.poll(() => one.logged.map(({ level }) => level)).toEqual(['warn', 'info'])
  })

  test('a Redis that was never there is no failure either', async () => {
    await using redis = await RedisServer.start()
    await redis.stop()
    const { bus, logged } = await openAt(redis.url, fresh())
    const here = listen(bus, 'a')
    bus.publish('a', 'alone')
    expect(here.heard).toEqual(['alone'])
    await expect.poll(() => logged.length).toBe(1)
  })

  test('flushing Redis ends no subscription, and marks are made again', async () => {
    const clock = new TestClock()
    await using redis = await RedisServer.start()
    const prefix = fresh()
    const [one, two] = [await openAt(redis.url, prefix, clock), await openAt(redis.url, prefix, clock)]
    const there = listen(two.bus, 'a')
    await untilHeard(one.bus, two.bus)
    await untilMarks(one.bus, clock)
    const client = new Redis(redis.url)
    await client.flushdb()
    client.disconnect()
    expect(await two.bus.isMarked('probe')).toBe(false)
    await untilMarks(one.bus, clock)
    one.bus.publish('a', 'still')
    await expect.poll(() => there.heard).toEqual(['still'])
  })
})
