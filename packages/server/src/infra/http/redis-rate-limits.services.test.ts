import { afterEach, expect, test } from 'vitest'
import { RedisServer, withRedis } from '#harness/redis-server.ts'
import { TestClock } from '#harness/test-clock.ts'
import { defaultRateLimits, type RateLimits } from './rate-limits.ts'
import { openRedisRateLimits } from './redis-rate-limits.ts'

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

const limits = { ...defaultRateLimits, 'sign-in': 2, 'bad-bearer': 2 }

async function openLimits(redisUrl: string): Promise<RateLimits & { warnings: string[] }> {
  const warnings: string[] = []
  const logger = { warn: (_: object, message: string) => void warnings.push(message), error: () => {} }
  const opened = await openRedisRateLimits({ redisUrl, clock: new TestClock(), limits, logger })
  cleanUps.push(() => opened.close())
  return { ...opened, warnings }
}

withRedis('buckets in Redis', () => {
  test('are shared by all nodes', async () => {
    await using redis = await RedisServer.start()
    const [one, other] = [await openLimits(redis.url), await openLimits(redis.url)]
    await untilReady(one, other)
    expect(await one.take('sign-in', 'a')).toMatchObject({ isAllowed: true, limit: 2, remaining: 1 })
    expect(await other.take('sign-in', 'a')).toMatchObject({ isAllowed: true, remaining: 0 })
    const { isAllowed, resetAtSecs } = await one.take('sign-in', 'a')
    expect(isAllowed).toBe(false)
    expect(resetAtSecs).toBeGreaterThan(Date.UTC(2026, 0, 1) / 1000)
    expect(await other.take('recovery', 'a')).toMatchObject({ isAllowed: true })
    expect(one.warnings).toEqual([])
  })
})

/** Until the first taken point is counted in Redis: while a node still connects, it counts for itself. */
async function untilReady(...nodes: readonly RateLimits[]): Promise<void> {
  let round = 0
  // With a key of its own each time: what a node has counted for itself says nothing of the next one.
  const probe = async () => {
    round += 1
    const taken = []
    for (const node of nodes) taken.push((await node.take('qr', `probe ${round}`)).remaining)
    return new Set(taken).size === nodes.length
  }
  while (!(await probe())) await new Promise(setImmediate)
}
