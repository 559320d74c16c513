import { Pool } from 'undici'
import { readInput } from './processes.ts'
import type { StormInput, StormResult } from './scenarios/storm.ts'

const everyMs = 10
// What is under way at most: a server that answers late is offered less, and the result says so.
const mostOpen = 2000

/** Open loop: deliveries go out at their times, whether those before are answered or not. */
async function run({ url, deliveries, perSecond }: StormInput): Promise<StormResult> {
  const pool = new Pool(url, { connections: 200, pipelining: 1 })
  const answers: Record<string, number> = {}
  const count = (what: string) => {
    answers[what] = (answers[what] ?? 0) + 1
  }
  const open = new Set<Promise<void>>()
  const startedAt = performance.now()
  for (let next = 0; next < deliveries.length; ) {
    const due = Math.min(deliveries.length, ((performance.now() - startedAt) / 1000) * perSecond)
    for (; next < due; next += 1) {
      const delivery = deliveries[next]
      if (!delivery || open.size >= mostOpen) {
        count('not sent')
        continue
      }
      const sent = send(pool, delivery).then(count)
      open.add(sent)
      void sent.finally(() => open.delete(sent))
    }
    await new Promise((resolve) => setTimeout(resolve, everyMs))
  }
  const tookSecs = (performance.now() - startedAt) / 1000
  await Promise.race([Promise.all(open), new Promise((resolve) => setTimeout(resolve, 15_000).unref())])
  void pool.destroy()
  return { answers, offeredPerSecond: deliveries.length / tookSecs }
}

async function send(pool: Pool, { from, body }: StormInput['deliveries'][number]): Promise<string> {
  try {
    const headers = { 'content-type': 'application/jwt', 'x-forwarded-for': from }
    const answer = await pool.request({ path: '/api/inbox', method: 'POST', headers, body })
    await answer.body.dump()
    return String(answer.statusCode)
  } catch {
    return 'broken'
  }
}

process.stdout.write(JSON.stringify(await run(await readInput<StormInput>())))
