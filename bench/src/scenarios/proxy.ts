import { Kith, type ServedLoad, tempDir } from '../kith.ts'
import { load } from '../load.ts'
import { type Figure, median, rateFigure, repeat, timeFigure } from '../measure.ts'
import { firstLine, spawnOn, stop } from '../processes.ts'
import type { Settings } from '../settings.ts'
import { costs, rates } from './reads.ts'

const backend = new URL('../ceilings/backend.ts', import.meta.url)
const domain = 'site.localhost'
const connections = 16
// Of what the backend itself answers: a proxy reads and writes every answer once more.
const targetShare = 0.2

/** A proxy site in front of the least that a backend can be, in turns with the backend itself. */
export async function proxy({ runs, seconds, ...settings }: Settings): Promise<Figure[]> {
  await using data = await tempDir()
  await using kith = await Kith.start(data.path, settings)
  const direct = spawnOn(1, backend)
  try {
    const { url } = await firstLine(direct)
    await makeSite(kith, String(url))
    const request = { method: 'GET', headers: { host: domain }, connections, seconds } as const
    const once = async () => ({
      direct: await load({ ...request, url: `${url}/` }),
      proxied: await kith.load({ ...request, path: '/' }),
    })
    await once()
    const results = await repeat(runs, once)
    const proxied: ServedLoad[] = results.map((result) => result.proxied)
    const bare = rates(results.map((result) => result.direct))
    const ceiling = { name: 'the backend itself', value: median(bare) }
    return [
      {
        ...rateFigure('requests through a proxy site', rates(proxied), ceiling, targetShare),
        ...costs(proxied),
      },
      timeFigure(
        'p99 that a proxy site adds',
        results.map((result) => result.proxied.p99Ms - result.direct.p99Ms),
      ),
    ]
  } finally {
    await stop(direct)
  }
}

async function makeSite(kith: Kith, backendUrl: string): Promise<void> {
  const answer = await fetch(`${kith.url}/api/admin/proxy-sites`, {
    method: 'POST',
    headers: { authorization: `Bearer ${await kith.signIn()}`, 'content-type': 'application/json' },
    body: JSON.stringify({ domain, backendUrl }),
  })
  if (!answer.ok) throw new Error(`the site was answered ${answer.status}: ${await answer.text()}`)
}
