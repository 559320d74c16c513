import { createServer } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { closedPort } from '#harness/addresses.ts'
import { TestClock } from '#harness/test-clock.ts'
import { assertRate, createMemoryRateLimits, defaultRateLimits, type RateLimits } from './rate-limits.ts'
import { openRedisRateLimits } from './redis-rate-limits.ts'

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

const limits = { ...defaultRateLimits, 'sign-in': 2, 'bad-bearer': 2 }

describe('buckets in memory', () => {
  test('let the limit through in a minute and then start anew', () => {
    const clock = new TestClock()
    const { take } = createMemoryRateLimits(clock, limits)
    const resetAtSecs = clock.now() / 1000 + 60
    expect(take('sign-in', 'a')).toEqual({ isAllowed: true, limit: 2, remaining: 1, resetAtSecs })
    expect(take('sign-in', 'a')).toEqual({ isAllowed: true, limit: 2, remaining: 0, resetAtSecs })
    clock.advance(59_999)
    expect(take('sign-in', 'a')).toEqual({ isAllowed: false, limit: 2, remaining: 0, resetAtSecs })
    clock.advance(1)
    expect(take('sign-in', 'a')).toMatchObject({
      isAllowed: true,
      remaining: 1,
      resetAtSecs: resetAtSecs + 60,
    })
  })

  test('are apart by name and by key', () => {
    const { take } = createMemoryRateLimits(new TestClock(), limits)
    for (let time = 0; time < 3; time += 1) take('sign-in', 'a')
    expect(take('sign-in', 'b').isAllowed).toBe(true)
    expect(take('recovery', 'a').isAllowed).toBe(true)
    expect(take('sign-in', 'a').isAllowed).toBe(false)
  })

  test('remember a bounded number of keys, the newest ones', () => {
    const { take } = createMemoryRateLimits(new TestClock(), { ...limits, anonymous: 1 })
    take('anonymous', 'first')
    for (let key = 0; key < 50_000; key += 1) take('anonymous', String(key))
    expect(take('anonymous', '49999').isAllowed).toBe(false)
    expect(take('anonymous', 'first').isAllowed).toBe(true)
  })

  test('know who has shown too many bad bearers', () => {
    const clock = new TestClock()
    const rates = createMemoryRateLimits(clock, limits)
    rates.take('bad-bearer', 'a')
    expect(rates.hasTooManyBadBearers('a')).toBe(false)
    rates.take('bad-bearer', 'a')
    expect([rates.hasTooManyBadBearers('a'), rates.hasTooManyBadBearers('b')]).toEqual([true, false])
    clock.advance(60_000)
    expect(rates.hasTooManyBadBearers('a')).toBe(false)
  })
})

describe('assertRate', () => {
  test('fails with the time to wait when a bucket is empty', async () => {
    const clock = new TestClock()
    const rateLimits = createMemoryRateLimits(clock, limits)
    await assertRate({ rateLimits, clock }, 'sign-in', 'account')
    await assertRate({ rateLimits, clock }, 'sign-in', 'account')
    clock.advance(20_000)
    await expect(assertRate({ rateLimits, clock }, 'sign-in', 'account')).rejects.toMatchObject({
      code: 'E-RATELIMIT',
      retryAfterSecs: 40,
    })
  })
})

async function openLimits(redisUrl: string): Promise<RateLimits & { warnings: string[] }> {
  const warnings: string[] = []
  const logger = { warn: (_: object, message: string) => void warnings.push(message), error: () => {} }
  const opened = await openRedisRateLimits({ redisUrl, clock: new TestClock(), limits, logger })
  cleanUps.push(() => opened.close())
  return { ...opened, warnings }
}

describe('buckets in a Redis that is away', () => {
  test('are counted by the node while Redis cannot be reached', async () => {
    const rates = await openLimits(`redis://127.0.0.1:${closedPort}`)
    const verdicts = []
    for (let time = 0; time < 3; time += 1) verdicts.push((await rates.take('sign-in', 'a')).isAllowed)
    expect(verdicts).toEqual([true, true, false])
    expect(rates.warnings.length).toBeLessThanOrEqual(1)
  })

  test('do not wait for a Redis that does not answer', async () => {
    const silent = createServer(() => {})
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    cleanUps.push(() => silent.close())
    const { port } = silent.address() as { port: number }
    const rates = await openLimits(`redis://127.0.0.1:${port}`)
    expect(await rates.take('sign-in', 'a')).toMatchObject({ isAllowed: true })
  })

  test('never hold refused bearers', async () => {
    const rates = await openLimits('redis://127.0.0.1:1')
    await rates.take('bad-bearer', 'a')
    await rates.take('bad-bearer', 'a')
    expect(rates.hasTooManyBadBearers('a')).toBe(true)
  })
})
