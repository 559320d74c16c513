import type { RateLimiterRedis } from 'rate-limiter-flexible'
import type { Logger } from '#infra/telemetry/index.ts'
import type { Clock } from '#lib/clock.ts'
import {
  createMemoryRateLimits,
  type RateLimitName,
  type RateLimits,
  type RateVerdict,
  windowMs,
} from './rate-limits.ts'

interface RedisRateOptions {
  readonly redisUrl: string
  readonly clock: Pick<Clock, 'now'>
  readonly limits: Readonly<Record<RateLimitName, number>>
  readonly logger: Pick<Logger, 'warn' | 'error'>
  /** Stands before every key; `kith:rate` when absent. */
  readonly keyPrefix?: string
}

/** The buckets of all nodes together, in Redis. While Redis does not answer, each node counts for itself. */
export async function openRedisRateLimits(options: RedisRateOptions): Promise<RateLimits> {
  const { Redis } = await import('ioredis')
  const flexible = await import('rate-limiter-flexible')
  const { clock, limits, logger } = options
  const memory = createMemoryRateLimits(clock, limits)
  // A limit must not cost more than the request: without an answer in this time the node counts for itself.
  const client = new Redis(options.redisUrl, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: 250,
    connectTimeout: 2000,
  })
  let isDown = false
  client.on('error', (error: Error) => {
    if (!isDown) logger.warn({ err: error }, 'rate limits are counted per node while Redis cannot be reached')
    isDown = true
  })
  client.on('ready', () => {
    isDown = false
  })
  const limiters = new Map<RateLimitName, RateLimiterRedis>()
  const limiterFor = (name: RateLimitName) => {
    const known = limiters.get(name)
    if (known) return known
    const made = new flexible.RateLimiterRedis({
      storeClient: client,
      keyPrefix: `${options.keyPrefix ?? 'kith:rate'}:${name}`,
      points: limits[name],
      duration: windowMs / 1000,
      rejectIfRedisNotReady: true,
    })
    limiters.set(name, made)
    return made
  }
  return {
    // Refused bearers are counted here alone: they are looked at before anything may cost a round trip.
    hasTooManyBadBearers: (key) => memory.hasTooManyBadBearers(key),
    take(name, key) {
      if (name === 'bad-bearer') return memory.take(name, key)
      return takeFrom(limiterFor(name), key, clock).catch(() => memory.take(name, key))
    },
    async close() {
      client.disconnect()
      await memory.close()
    },
  }
}

async function takeFrom(
  limiter: RateLimiterRedis,
  key: string,
  clock: Pick<Clock, 'now'>,
): Promise<RateVerdict> {
  // The library rejects with the same object when the bucket is empty, and with an Error when the store fails.
  const state = await limiter.consume(key).catch((rejection: unknown) => {
    if (rejection instanceof Error) throw rejection
    return rejection as Awaited<ReturnType<typeof limiter.consume>>
  })
  return {
    isAllowed: state.consumedPoints <= limiter.points,
    limit: limiter.points,
    remaining: state.remainingPoints,
    resetAtSecs: Math.ceil((clock.now() + state.msBeforeNext) / 1000),
  }
}
