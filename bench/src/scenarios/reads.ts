import { Kith, tempDir } from '../kith.ts'
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
  await using kith = await Kith.start(data.path)
  const headers = { authorization: `Bearer ${await kith.signIn()}` }
  const get = (path: string) => measure(settings, { url: `${kith.url}${path}`, headers })
  const feed = await get('/api/actions?limit=20')
  const single = await get(`/api/actions/${ceilings[0]?.actionId}`)
  const rssMb = await kith.residentMb()
  const bare = {
    name: 'same SQL and JSON in a bare loop',
    value: median(ceilings.map(({ listed }) => listed)),
  }
  const bareHello = { name: 'bare hello of the same stack', value: median(helloRates) }
  return [
    { ...rateFigure(`feed list of ${actions} actions`, rates(feed), bare, 0.5), ...latency(feed), rssMb },
    { ...rateFigure('single action', rates(single), bareHello, 0.25), ...latency(single) },
  ]
}

async function measure(
  { runs, seconds }: Settings,
  { url, headers }: { readonly url: string; readonly headers: Record<string, string> },
): Promise<LoadResult[]> {
  const request = { url, method: 'GET', headers, connections } as const
  await load({ ...request, seconds: seconds / 4 })
  return await repeat(runs, () => load({ ...request, seconds }))
}

async function helloRate(settings: Settings): Promise<number[]> {
  const child = spawnOn(0, hello)
  try {
    const { url } = await firstLine(child)
    return rates(await measure(settings, { url: `${url}/`, headers: {} }))
  } finally {
    await stop(child)
  }
}

export function rates(results: readonly LoadResult[]): number[] {
  return results.map(({ perSecond }) => perSecond)
}

export function latency(results: readonly LoadResult[]): { p50Ms: number; p99Ms: number } {
  return {
    p50Ms: median(results.map(({ p50Ms }) => p50Ms)),
    p99Ms: median(results.map(({ p99Ms }) => p99Ms)),
  }
}
