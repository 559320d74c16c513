import { setTimeout as pause } from 'node:timers/promises'
import { Kith, tempDir } from '../kith.ts'
import { boundedFigure, type Figure, median, repeat } from '../measure.ts'
import { firstLine, spawnOn, stop } from '../processes.ts'
import { peerTag, seed, seedPeers } from '../seed.ts'
import type { Settings } from '../settings.ts'

const program = new URL('../receivers.ts', import.meta.url)
const servers = 1000
const deadShare = 0.05
const posts = 5
const longestMs = 120_000

interface FanOutTimes {
  readonly queuedMs: number
  readonly arrivedMs: number
}

/** One post to a thousand servers, of which some take connections and never answer. */
export async function fanOut1000(settings: Settings): Promise<Figure[]> {
  const receivers = spawnOn(1, program)
  try {
    const port = Number((await firstLine(receivers)).port)
    const well = await repeat(settings.runs, () => measure(settings, port, 0))
    const partly = await repeat(settings.runs, () => measure(settings, port, deadShare))
    const alone = median(well.map(({ arrivedMs }) => arrivedMs))
    const arrived = partly.map(({ arrivedMs }) => arrivedMs)
    const queued = partly.map(({ queuedMs }) => queuedMs)
    const live = servers * (1 - deadShare)
    return [
      boundedFigure(`one post queued for ${servers} servers`, 'ms', queued, 150),
      boundedFigure(`until ${live} live ones of them have it`, 'ms', arrived, alone * 1.3),
      {
        name: 'until all of them have it, none dead',
        unit: 'ms',
        isRate: false,
        runs: [alone],
        median: alone,
      },
    ]
  } finally {
    await stop(receivers)
  }
}

async function measure(settings: Settings, port: number, dead: number): Promise<FanOutTimes> {
  await using data = await tempDir()
  await seed(data.path, async (db, tenantId) => {
    const peers = Array.from({ length: servers }, (_, at) => {
      const isDead = dead > 0 && at % Math.round(1 / dead) === 1
      const address = `127.${Number(isDead)}.${1 + Math.floor(at / 200)}.${1 + (at % 200)}`
      return { idTag: peerTag(at), inboxUrl: `http://${address}:${port}/api/inbox` }
    })
    await seedPeers(db, tenantId, peers)
  })
  await using kith = await Kith.start(data.path, settings, { ALLOW_PRIVATE_NETWORK: 'true' })
  const token = await kith.signIn()
  const live = servers * (1 - dead)
  const times = await repeat(posts, async () => {
    const startedAtMs = Date.now()
    const actionId = await post(kith, token)
    const queuedMs = Date.now() - startedAtMs
    return { queuedMs, arrivedMs: (await arrival(port, actionId, live)) - startedAtMs }
  })
  return {
    queuedMs: median(times.map(({ queuedMs }) => queuedMs)),
    arrivedMs: Math.max(...times.map(({ arrivedMs }) => arrivedMs)),
  }
}

async function post(kith: Kith, token: string): Promise<string> {
  const response = await fetch(`${kith.url}/api/actions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ type: 'POST', content: { text: 'To everybody' }, visibility: 'P' }),
  })
  if (response.status !== 201) throw new Error(`the post answered ${response.status}`)
  return ((await response.json()) as { data: { actionId: string } }).data.actionId
}

/** When the last of so many servers got it. */
async function arrival(port: number, actionId: string, count: number): Promise<number> {
  const endsAt = performance.now() + longestMs
  for (;;) {
    const url = `http://127.0.0.1:${port}/arrived?actionId=${encodeURIComponent(actionId)}`
    const arrived = (await (await fetch(url)).json()) as { count: number; lastAtMs: number }
    if (arrived.count >= count) return arrived.lastAtMs
    if (performance.now() > endsAt) throw new Error(`${arrived.count} of ${count} servers have it`)
    await pause(20)
  }
}
