import { Pool } from 'undici'
import { readInput } from './processes.ts'
import type { PacedReading, PacedResult } from './scenarios/photos.ts'

const connections = 32

/** Open loop until it is told to end: a request each moment, timed from when it was due, whether those before it are
 * answered or not. */
async function run({ url, headers, everyMs }: PacedReading): Promise<PacedResult> {
  const { origin, pathname, search } = new URL(url)
  const pool = new Pool(origin, { connections, pipelining: 1 })
  const latencies: number[] = []
  let isOver = false
  process.once('SIGTERM', () => {
    isOver = true
  })
  const read = async (dueMs: number) => {
    const answer = await pool.request({ path: pathname + search, method: 'GET', headers })
    await answer.body.dump()
    if (answer.statusCode !== 200) throw new Error(`a reading answered ${answer.statusCode}`)
    latencies.push(performance.now() - dueMs)
  }
  const readings: Promise<void>[] = []
  for (let dueMs = performance.now(); !isOver; dueMs += everyMs) {
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, dueMs - performance.now())))
    readings.push(read(dueMs))
  }
  await Promise.all(readings)
  await pool.close()
  latencies.sort((one, other) => one - other)
  const at = (share: number) => latencies[Math.floor((latencies.length - 1) * share)] ?? Number.NaN
  return { requests: latencies.length, p50Ms: at(0.5), p99Ms: at(0.99) }
}

process.stdout.write(JSON.stringify(await run(await readInput<PacedReading>())))
