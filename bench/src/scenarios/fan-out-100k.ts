import { setTimeout as pause } from 'node:timers/promises'
import { Kith, tempDir } from '../kith.ts'
import { boundedFigure, type Figure, repeat } from '../measure.ts'
import { peerTag, seed, seedPeers } from '../seed.ts'
import type { Settings } from '../settings.ts'

const servers = 100_000
const peersPerSeed = 2000
const pauseMs = 5
const longestMs = 600_000

interface Waits {
  readonly queuedMs: number
  readonly writeMs: number
  readonly portionedMs: number
}

/** One post to a hundred thousand servers, where nobody listens: how long others wait for their writes meanwhile. */
export async function fanOut100k(settings: Settings): Promise<Figure[]> {
  await using data = await tempDir()
  await seed(data.path, async (db, tenantId) => {
    for (let from = 0; from < servers; from += peersPerSeed)
      await seedPeers(
        db,
        tenantId,
        Array.from({ length: peersPerSeed }, (_, at) => peer(from + at)),
      )
  })
  const waits = await repeat(settings.runs, () => measure(data.path, settings))
  const of = (pick: (waits: Waits) => number) => waits.map(pick)
  return [
    boundedFigure(
      `one post answered, ${servers} servers`,
      'ms',
      of(({ queuedMs }) => queuedMs),
      50,
    ),
    boundedFigure(
      'longest wait of another write meanwhile',
      'ms',
      of(({ writeMs }) => writeMs),
      50,
    ),
    {
      name: 'until all deliveries are written',
      unit: 'ms',
      isRate: false,
      runs: of(({ portionedMs }) => portionedMs),
      median: of(({ portionedMs }) => portionedMs).sort((a, b) => a - b)[Math.floor(settings.runs / 2)] ?? 0,
    },
  ]
}

/** Each a host of its own on the loopback network. */
function peer(at: number) {
  const address = `127.${1 + Math.floor(at / 40_000)}.${Math.floor(at / 200) % 200}.${1 + (at % 200)}`
  return { idTag: peerTag(at), inboxUrl: `http://${address}:9/api/inbox` }
}

async function measure(dataDir: string, settings: Settings): Promise<Waits> {
  await using kith = await Kith.start(dataDir, settings, { ALLOW_PRIVATE_NETWORK: 'true' })
  const token = await kith.signIn()
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const send = async (path: string, method: string, body: object) => {
    const startedAt = performance.now()
    const response = await fetch(`${kith.url}${path}`, { method, headers, body: JSON.stringify(body) })
    const answer = (await response.json()) as { data: { actionId: string } }
    if (!response.ok) throw new Error(`${path} answered ${response.status}`)
    return { answer, ms: performance.now() - startedAt }
  }
  const write = () => send('/api/settings/ui.bench', 'PUT', { value: Math.random() })
  for (let warm = 0; warm < 20; warm += 1) await write()
  const startedAt = performance.now()
  let isOut = false
  const posted = send('/api/actions', 'POST', {
    type: 'POST',
    content: { text: 'To everybody' },
    visibility: 'P',
  }).then(async ({ answer, ms }) => {
    await untilWritten(kith, answer.data.actionId, token)
    isOut = true
    return { queuedMs: ms, portionedMs: performance.now() - startedAt }
  })
  let writeMs = 0
  while (!isOut) {
    writeMs = Math.max(writeMs, (await write()).ms)
    await pause(pauseMs)
  }
  return { ...(await posted), writeMs }
}

/** While deliveries are still to be written, the last entry of the list says so. */
async function untilWritten(kith: Kith, actionId: string, token: string): Promise<void> {
  const endsAt = performance.now() + longestMs
  for (;;) {
    const url = `${kith.url}/api/actions/${encodeURIComponent(actionId)}/deliveries?offset=${servers}&limit=1`
    const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } })
    const { data, pagination } = (await response.json()) as {
      data: { server: string }[]
      pagination?: { total: number }
    }
    if (pagination === undefined || (pagination.total >= servers && data.length === 0)) return
    if (performance.now() > endsAt) throw new Error('the deliveries are not written')
    await pause(1000)
  }
}
