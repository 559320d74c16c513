import { cp } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { Kith, tempDir } from '../kith.ts'
import { boundedFigure, type Figure, percentile, repeat, timeFigure } from '../measure.ts'
import { openData, peerTag, seed, seedPeers } from '../seed.ts'
import { type Database, serverTenant } from '../server-modules.ts'
import type { Settings } from '../settings.ts'

const peersPerSeed = 250
const pauseMs = 5
const longestMs = 1_800_000
/** As long as the deliveries of a post take, about. */
const aloneMs = 10_000

interface Stage {
  readonly queuedMs: number
  readonly portionedMs: number
  readonly writesMs: readonly number[]
  readonly cpuMs: number
}

interface Run {
  /** Nothing is fanned out: what the machine itself has another write wait. */
  readonly alone: Stage
  readonly post: Stage
  readonly deletion: Stage
}

/** One post to 100 000 unreachable servers, and its deletion: the latency of other writes meanwhile. */
export async function fanOut100k(settings: Settings): Promise<Figure[]> {
  const { servers, databaseUrl } = settings
  await using data = await tempDir()
  await seed(
    data.path,
    async (db, tenantId) => {
      for (let from = 0; from < servers; from += peersPerSeed)
        await seedPeers(
          db,
          tenantId,
          Array.from({ length: Math.min(peersPerSeed, servers - from) }, (_, at) => peer(from + at)),
        )
    },
    databaseUrl,
  )
  const runs = await repeat(settings.runs, async () => {
    // On PostgreSQL a run begins with what the former has left.
    await using copy = await tempDir()
    await cp(data.path, copy.path, { recursive: true })
    return await measure(copy.path, settings)
  })
  const aloneLongest = runs.map(({ alone }) => Math.max(...alone.writesMs))
  return [
    timeFigure('without a fan-out: longest wait of another write', aloneLongest),
    ...figuresOf(
      `a post to ${servers}`,
      runs.map(({ post }) => post),
    ),
    ...figuresOf(
      'its deletion',
      runs.map(({ deletion }) => deletion),
    ),
  ]
}

function figuresOf(what: string, stages: readonly Stage[]): Figure[] {
  const of = (pick: (stage: Stage) => number) => stages.map(pick)
  const writes = stages.flatMap(({ writesMs }) => writesMs)
  const longest = of(({ writesMs }) => Math.max(...writesMs))
  return [
    boundedFigure(
      `${what}: answered`,
      'ms',
      of(({ queuedMs }) => queuedMs),
      50,
    ),
    {
      ...boundedFigure(`${what}: longest wait of another write`, 'ms', longest, 50),
      p50Ms: percentile(writes, 0.5),
      p99Ms: percentile(writes, 0.99),
    },
    timeFigure(
      `${what}: until all deliveries are written`,
      of(({ portionedMs }) => portionedMs),
    ),
    timeFigure(
      `${what}: processor time of the server until then`,
      of(({ cpuMs }) => cpuMs),
    ),
  ]
}

/** Each a host of its own on the loopback network. */
function peer(at: number) {
  const address = `127.${1 + Math.floor(at / 40_000)}.${Math.floor(at / 200) % 200}.${1 + (at % 200)}`
  return { idTag: peerTag(at), inboxUrl: `http://${address}:9/api/inbox` }
}

async function measure(dataDir: string, settings: Settings): Promise<Run> {
  const { databaseUrl } = settings
  await using kith = await Kith.start(dataDir, settings, {
    ALLOW_PRIVATE_NETWORK: 'true',
    ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }),
  })
  const db = await openData(dataDir, databaseUrl)
  const site = new Site(kith, db, await kith.signIn())
  for (let warm = 0; warm < 20; warm += 1) await site.write()
  const alone = await site.during(() => pause(aloneMs))
  const content = { text: 'To everybody' }
  const posted = await site.during(async () => {
    const { data } = await site.send('/api/actions', 'POST', { type: 'POST', content, visibility: 'P' })
    return (data as { actionId: string }).actionId
  })
  const path = `/api/actions/${encodeURIComponent(posted.result)}`
  const deleted = await site.during(() => site.send(path, 'DELETE'))
  await db.close()
  return { alone: alone.stage, post: posted.stage, deletion: deleted.stage }
}

class Site {
  readonly #kith: Kith
  readonly #db: Database
  readonly #token: string

  constructor(kith: Kith, db: Database, token: string) {
    this.#kith = kith
    this.#db = db
    this.#token = token
  }

  async send(path: string, method: string, body?: object): Promise<{ readonly data: unknown }> {
    const headers = { authorization: `Bearer ${this.#token}`, 'content-type': 'application/json' }
    const request = body === undefined ? {} : { body: JSON.stringify(body) }
    const response = await fetch(`${this.#kith.url}${path}`, { method, headers, ...request })
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}`)
    const text = await response.text()
    return text === '' ? { data: undefined } : JSON.parse(text)
  }

  write() {
    return this.send('/api/settings/ui.bench', 'PUT', { value: Math.random() })
  }

  /** Writes all the time until the deliveries of what `act` does are written. */
  async during<Result>(
    act: () => Promise<Result>,
  ): Promise<{ readonly result: Result; readonly stage: Stage }> {
    const before = await this.#kith.processorMs()
    const startedAt = performance.now()
    let isOut = false
    const acting = act().then(async (result) => {
      const queuedMs = performance.now() - startedAt
      await this.#untilWritten()
      isOut = true
      return { result, queuedMs, portionedMs: performance.now() - startedAt }
    })
    const writesMs: number[] = []
    while (!isOut) {
      const at = performance.now()
      await this.write()
      writesMs.push(performance.now() - at)
      await pause(pauseMs)
    }
    const { result, ...times } = await acting
    return { result, stage: { ...times, writesMs, cpuMs: (await this.#kith.processorMs()) - before } }
  }

  /** Until no fan-out has a place any more. */
  async #untilWritten(): Promise<void> {
    const endsAt = performance.now() + longestMs
    const tables = this.#db.reader(serverTenant).tables<{ fan_outs: { fan_out_id: number } }>()
    while ((await tables.selectFrom('fan_outs').select('fan_out_id').limit(1).execute()).length > 0) {
      if (performance.now() > endsAt) throw new Error('the deliveries are not written')
      await pause(200)
    }
  }
}
