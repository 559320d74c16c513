import { afterAll, afterEach, beforeAll, expect, onTestFinished } from 'vitest'
import type { OpenTestDatabase } from '#harness/each-dialect.ts'
import { RedisServer } from '#harness/redis-server.ts'
import { S3Server } from '#harness/s3-server.ts'
import { TestServer } from '#harness/test-server.ts'

interface TwoProcesses {
  readonly first: TestServer
  readonly second: TestServer
}

/** Inside a suite of `onPostgresServer`: two servers on one database, as processes of one server are but for their memory. With a
 * Redis they hear each other. They stop after the test. */
export function twoProcesses(
  open: OpenTestDatabase,
  more: Readonly<Record<string, string>> = {},
): (redisUrl?: string) => Promise<TwoProcesses> {
  const servers: TestServer[] = []
  // Before their schema goes.
  afterEach(async () => {
    for (const server of servers.splice(0).reverse()) await server.stop()
  })
  return async (redisUrl) => {
    const env = { ...more, ...(redisUrl === undefined ? {} : { REDIS_URL: redisUrl }) }
    const { url } = await open.place()
    const first = await TestServer.start({ env: { DATABASE_URL: url, ...env } })
    servers.push(first)
    const second = await TestServer.startBeside(first, env)
    servers.push(second)
    if (redisUrl !== undefined) await untilHeard(first, second)
    return { first, second }
  }
}

/** A Redis of the suite's own, since what one run has marked in a shared one is there for the next; gives its address. */
export function redisOfSuite(): () => string {
  let redis: RedisServer | undefined
  beforeAll(async () => {
    redis = await RedisServer.start()
  })
  afterAll(() => redis?.[Symbol.asyncDispose]())
  return () => redis?.url ?? ''
}

/** Inside a test of `onPostgresServer`: two servers on one database and one bucket. */
export async function twoOnOneBucket(
  open: OpenTestDatabase,
): Promise<TwoProcesses & { readonly bucket: S3Server }> {
  const { url } = await open.place()
  const bucket = await S3Server.start()
  onTestFinished(() => bucket[Symbol.asyncDispose]())
  const masterKey = Buffer.alloc(32, 3).toString('base64')
  const env = { ...bucket.environment, DATABASE_URL: url, MASTER_KEY: masterKey }
  const first = await TestServer.start({ env })
  onTestFinished(() => first.stop())
  const second = await TestServer.start({ env, clock: first.clock })
  onTestFinished(() => second.stop())
  return { first, second, bucket }
}

/** Resolves when two processes that share a Redis hear each other: until then what one says is lost to the other. */
async function untilHeard(one: TestServer, other: TestServer): Promise<void> {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
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
}
