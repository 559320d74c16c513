import { Pool } from 'undici'
import type { Load, LoadResult } from './load.ts'
import { readInput } from './processes.ts'

/** Closed loop: each connection sends its next request when the answer to the last one is complete. */
async function run({
  url,
  method,
  headers,
  bodies = [],
  once = false,
  connections,
  seconds,
  manyAddresses = false,
}: Load): Promise<LoadResult> {
  const { origin, pathname, search } = new URL(url)
  const pool = new Pool(origin, { connections, pipelining: 1 })
  const latencies: number[] = []
  let sent = 0
  let non2xx = 0
  const startedAt = performance.now()
  const endsAt = startedAt + seconds * 1000
  const isOver = () => performance.now() >= endsAt || (once && sent >= bodies.length)
  async function client(): Promise<void> {
    while (!isOver()) {
      const number = sent
      sent += 1
      const body = bodies[number % Math.max(1, bodies.length)]
      const address = manyAddresses
        ? { 'x-forwarded-for': `10.${(number >> 16) & 255}.${(number >> 8) & 255}.${number & 255}` }
        : {}
      const at = performance.now()
      const answer = await pool.request({
        path: pathname + search,
        method,
        headers: { ...headers, ...address },
        ...(body === undefined ? {} : { body }),
      })
      // Without a limit it would give up a large answer, and the connection with it.
      await answer.body.dump({ limit: Number.MAX_SAFE_INTEGER })
      latencies.push(performance.now() - at)
      if (answer.statusCode < 200 || answer.statusCode > 299) non2xx += 1
    }
  }
  await Promise.all(Array.from({ length: connections }, client))
  const tookSecs = (performance.now() - startedAt) / 1000
  await pool.close()
  latencies.sort((a, b) => a - b)
  const at = (share: number) =>
    latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? Number.NaN
  return {
    requests: latencies.length,
    perSecond: latencies.length / tookSecs,
    p50Ms: at(0.5),
    p95Ms: at(0.95),
    p99Ms: at(0.99),
    non2xx,
  }
}

process.stdout.write(JSON.stringify(await run(await readInput<Load>())))
