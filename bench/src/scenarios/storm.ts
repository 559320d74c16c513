import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'
import type { IdTag } from '@kith/protocol'
import { Kith, tempDir } from '../kith.ts'
import { boundedFigure, type Figure, median, rateFigure, repeat } from '../measure.ts'
import { runOn } from '../processes.ts'
import { peerTag, seed, seedActions, seedPeers } from '../seed.ts'
import { changeRelation } from '../server-modules.ts'
import type { Settings } from '../settings.ts'
import { tokenOf } from './inbox.ts'
import { costs } from './reads.ts'

const worker = new URL('../storm-worker.ts', import.meta.url)
const hosts = 50
const slowHosts = 5
const perSecond = 1000
const posts = 10_000
const readers = 16

export interface StormInput {
  readonly url: string
  readonly perSecond: number
  readonly deliveries: readonly { readonly from: string; readonly body: string }[]
}

export interface StormResult {
  readonly answers: Readonly<Record<string, number>>
  readonly offeredPerSecond: number
}

/** Local reads while fifty servers deliver as fast as they can, the keys of five cannot be had, and one sends noise. */
export async function storm(settings: Settings): Promise<Figure[]> {
  await using data = await tempDir()
  const keys = Array.from({ length: hosts }, () => generateKeyPairSync('ec', { namedCurve: 'P-384' }))
  const slow = await openSilence()
  const slowTags = Array.from({ length: slowHosts }, (_, at) => `slow${at}.localhost` as IdTag)
  await seed(data.path, async (db, tenantId) => {
    const peers = keys.map(({ publicKey }, at) => ({
      idTag: peerTag(at),
      inboxUrl: 'http://127.0.0.1:9/api/inbox',
      publicKey: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    }))
    await seedPeers(db, tenantId, peers)
    await db.transact(tenantId, async (tx) => {
      for (const tag of slowTags) await changeRelation(tx, tag, { isFollowing: true, at: 1 })
    })
    await seedActions(db, tenantId, { actions: posts, peers: hosts })
  })
  const { port } = slow.address() as AddressInfo
  const env = {
    ALLOW_PRIVATE_NETWORK: 'true',
    IDENTITY_HOSTS: slowTags.map((tag) => `${tag}=http://127.0.0.1:${port}`).join(','),
  }
  const runs = await repeat(settings.runs, async () => {
    const deliveries = Array.from({ length: perSecond * settings.seconds }, (_, at) => {
      const host = at % (hosts + slowHosts + 1)
      const from = `10.0.0.${host + 1}`
      if (host === hosts + slowHosts) return { from, body: randomBytes(600).toString('base64url') }
      const tag = slowTags[host - hosts] ?? peerTag(host)
      return { from, body: tokenOf(tag, keys[host % hosts]?.privateKey) }
    })
    await using kith = await Kith.start(data.path, settings, env)
    return await measure(kith, deliveries, settings.seconds)
  })
  slow.close()
  return figuresOf(runs)
}

type Measured = Awaited<ReturnType<typeof measure>>

async function measure(kith: Kith, deliveries: StormInput['deliveries'], seconds: number) {
  const headers = { authorization: `Bearer ${await kith.signIn()}` }
  const request = { path: '/api/actions?limit=20', method: 'GET', headers, connections: readers } as const
  await kith.load({ ...request, seconds: seconds / 4 })
  const calm = await kith.load({ ...request, seconds })
  const calmDelayMs = (await kith.metric('nodejs_eventloop_lag_p99_seconds')) * 1000
  const [result, stormy] = await Promise.all([
    runOn<StormResult>(1, worker, { url: kith.url, perSecond, deliveries }),
    kith.load({ ...request, seconds }),
  ])
  const delayMs = (await kith.metric('nodejs_eventloop_lag_p99_seconds')) * 1000
  console.error(`offered ${result.offeredPerSecond.toFixed(0)}/s: ${JSON.stringify(result.answers)}`)
  return { calm, stormy, calmDelayMs, delayMs, rssMb: await kith.residentMb() }
}

function figuresOf(runs: readonly Measured[]): Figure[] {
  const rates = runs.map(({ stormy }) => stormy.perSecond)
  const calm = { name: 'without the storm', value: median(runs.map((run) => run.calm.perSecond)) }
  const calmDelays = runs.map(({ calmDelayMs }) => calmDelayMs)
  const calmDelay = { unit: 'ms', isRate: false, runs: calmDelays, median: median(calmDelays) }
  const delays = runs.map(({ delayMs }) => delayMs)
  const memory = runs.map(({ rssMb }) => rssMb)
  return [
    { ...rateFigure('feed lists in a storm', rates, calm, 0.7), ...costs(runs.map(({ stormy }) => stormy)) },
    { name: 'delay of the event loop before, p99', ...calmDelay },
    boundedFigure('delay of the event loop in a storm, p99', 'ms', delays, 30),
    boundedFigure('memory after a storm', 'MB', memory, 400),
  ]
}

/** A server that takes connections and says nothing. */
async function openSilence(): Promise<Server> {
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy())
    socket.unref()
  })
  server.listen(0, '127.0.0.1').unref()
  await once(server, 'listening')
  return server
}
