import { Kith, type ServedLoad, tempDir } from '../kith.ts'
import { type LoadResult, load } from '../load.ts'
import { type Figure, median, rateFigure, repeat } from '../measure.ts'
import { firstLine, runOn, spawnOn, stop } from '../processes.ts'
import { peerTag, seed, seedActions, seedPeers } from '../seed.ts'
import type { Settings } from '../settings.ts'

const loop = new URL('../ceilings/feed-loop.ts', import.meta.url)
const hello = new URL('../ceilings/hello.ts', import.meta.url)
const connections = 16

/** The signed-in feed and one action, on a tenant that has much. */
export async function reads(settings: Settings): Promise<Figure[]> {
  const { runs, seconds, actions, relations } = settings
  await using data = await tempDir()
  await seed(data.path, async (db, tenantId) => {
    const inboxUrl = 'http://127.0.0.1:9/api/inbox'
    await seedPeers(
      db,
      tenantId,
      Array.from({ length: relations }, (_, at) => ({ idTag: peerTag(at), inboxUrl })),
    )
    await seedActions(db, tenantId, { actions, peers: relations })
  })
  const ceilings = await repeat(runs, () =>
    runOn<{ listed: number; read: number; actionId: string }>(0, loop, { dataDir: data.path, seconds }),
  )
  const helloRates = await helloRate(settings)
  await using kith = await Kith.start(data.path, settings)
  const headers = { authorization: `Bearer ${await kith.signIn()}` }
  const get = (path: string) =>
    measure(settings, (forSeconds) =>
      kith.load({ path, method: 'GET', headers, connections, seconds: forSeconds }),
    )
  const feed = await get('/api/actions?limit=20')
  const single = await get(`/api/actions/${ceilings[0]?.actionId}`)
  const rssMb = await kith.residentMb()
  const bare = {
    name: 'same SQL and JSON in a bare loop',
    value: median(ceilings.map(({ listed }) => listed)),
  }
  const bareHello = { name: 'hello of a bare Fastify', value: median(helloRates) }
  return [
    { ...rateFigure(`feed list of ${actions} actions`, rates(feed), bare, 0.5), ...costs(feed), rssMb },
    { ...rateFigure('single action', rates(single), bareHello, 0.25), ...costs(single) },
  ]
}

async function measure<Result>(
  { runs, seconds }: Settings,
  once: (seconds: number) => Promise<Result>,
): Promise<Result[]> {
  await once(seconds / 4)
  return await repeat(runs, () => once(seconds))
}

async function helloRate(settings: Settings): Promise<number[]> {
  const child = spawnOn(0, hello)
  try {
    const { url } = await firstLine(child)
    const request = { url: `${url}/`, method: 'GET', headers: {}, connections } as const
    return rates(await measure(settings, (seconds) => load({ ...request, seconds })))
  } finally {
    await stop(child)
  }
}

export function rates(results: readonly LoadResult[]): number[] {
  return results.map(({ perSecond }) => perSecond)
}

/** What a request costs: how long it takes, and the server's processor time. */
export function costs(results: readonly ServedLoad[]): Pick<Figure, 'p50Ms' | 'p99Ms' | 'cpuMs'> {
  return {
    cpuMs: median(results.map(({ cpuMs }) => cpuMs)),
    p50Ms: median(results.map(({ p50Ms }) => p50Ms)),
    p99Ms: median(results.map(({ p99Ms }) => p99Ms)),
  }
}
