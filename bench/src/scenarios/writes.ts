import { Kith, tempDir } from '../kith.ts'
import { boundedFigure, type Figure, median, rateFigure, repeat } from '../measure.ts'
import { peerTag, seed, seedPeers } from '../seed.ts'
import type { Settings } from '../settings.ts'
import { costs, rates } from './reads.ts'
import { signatureRates } from './signature-rates.ts'

const writers = 64
const servers = 200

/** Durable creation of actions by many writers. */
export async function creates(settings: Settings): Promise<Figure[]> {
  const { runs, seconds } = settings
  await using data = await tempDir()
  await using kith = await Kith.start(data.path, settings)
  const body = JSON.stringify({ type: 'POST', content: { text: 'A post of the bench' }, visibility: 'P' })
  const request = {
    path: '/api/actions',
    method: 'POST',
    headers: { authorization: `Bearer ${await kith.signIn()}`, 'content-type': 'application/json' },
    bodies: [body],
    connections: writers,
  } as const
  await kith.load({ ...request, seconds: seconds / 4 })
  const results = await repeat(runs, () => kith.load({ ...request, seconds }))
  const ceiling = {
    name: 'P-384 signing alone',
    value: median((await signatureRates(settings)).map(({ signed }) => signed)),
  }
  const figure = rateFigure(`durable create, ${writers} writers`, rates(results), ceiling, 0.6)
  return [{ ...figure, ...costs(results), rssMb: await kith.residentMb() }]
}

/** One post to followers on many servers: from the request to the answer, with all deliveries in the outbox. */
export async function fanOut(settings: Settings): Promise<Figure[]> {
  await using data = await tempDir()
  await seed(data.path, async (db, tenantId) => {
    const peers = Array.from({ length: servers }, (_, at) => ({
      idTag: peerTag(at),
      // Each a host of its own on the loopback network, where nobody listens.
      inboxUrl: `http://127.0.${1 + Math.floor(at / 200)}.${1 + (at % 200)}:9/api/inbox`,
    }))
    await seedPeers(db, tenantId, peers)
  })
  const durationsMs = await repeat(settings.runs, async () => {
    await using kith = await Kith.start(data.path, settings)
    const token = await kith.signIn()
    const post = async () => {
      const startedAt = performance.now()
      const response = await fetch(`${kith.url}/api/actions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ type: 'POST', content: { text: 'To everybody' }, visibility: 'P' }),
      })
      if (response.status !== 201) throw new Error(`the post answered ${response.status}`)
      await response.arrayBuffer()
      return performance.now() - startedAt
    }
    await post()
    return median(await repeat(9, post))
  })
  return [boundedFigure(`one post queued for ${servers} servers`, 'ms', durationsMs, 50)]
}
