import { setTimeout } from 'node:timers/promises'
import type { FileId } from '@kith/protocol'
import { Kith, type ServedLoad, tempDir } from '../kith.ts'
import { boundedFigure, type Figure, median, repeat } from '../measure.ts'
import { seed } from '../seed.ts'
import { seedFolder } from '../seed-files.ts'
import type { Settings } from '../settings.ts'

const few = 100
const many = 10_000
const pageAtMostTimes = 3
const moveAtMostMs = 50
const treeAtMostMs = 500
// In portions, each durable before the next.
const removeAtMostMs = 5000
const delayAtMostMs = 50
const pageSize = 50
const delayMetric = 'nodejs_eventloop_lag_p99_seconds'
const delayPrecisionMs = 20

const sorts = ['created', 'modified', 'name', 'recent'] as const

/** Pages of a large folder beside those of a small one, and what is done with the whole of it. */
export async function folders(settings: Settings): Promise<Figure[]> {
  await using data = await tempDir()
  const small: FileId[] = []
  const large: FileId[] = []
  await seed(data.path, async (db, tenantId) => {
    small.push(await seedFolder(db, tenantId, { name: 'few', photos: few }))
    for (let run = 0; run < 2 * settings.runs; run += 1)
      large.push(await seedFolder(db, tenantId, { name: `many ${run}`, photos: many }))
  })
  await using kith = await Kith.start(data.path, settings)
  const client = new Client(kith, await kith.signIn())
  const pages = await measurePages(client, settings, { few: small[0], many: large[0] })
  return [...pages, ...(await measureTrees(client, large, settings.runs))]
}

interface Timed {
  readonly tookMs: number
  readonly cpuMs: number
  readonly delayMs: number
}

/** Requests of the owner, one after the other. */
class Client {
  readonly kith: Kith
  readonly headers: Readonly<Record<string, string>>

  constructor(kith: Kith, token: string) {
    this.kith = kith
    this.headers = { authorization: `Bearer ${token}` }
  }

  async ask(
    method: string,
    path: string,
    body?: object,
  ): Promise<{ data: unknown; cursorPagination?: { nextCursor: string } }> {
    const json = body && { 'content-type': 'application/json' }
    const response = await fetch(this.kith.url + path, {
      method,
      headers: { ...this.headers, ...json },
      ...(body && { body: JSON.stringify(body) }),
    })
    if (!response.ok)
      throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`)
    return (await response.json()) as never
  }

  list(query: string, seconds: number): Promise<ServedLoad> {
    return this.kith.load({
      path: `/api/files?${query}`,
      method: 'GET',
      headers: this.headers,
      connections: 1,
      seconds,
    })
  }

  /** How long something takes, what it costs, and how long it keeps others waiting. */
  async time(method: string, path: string, body?: object): Promise<Timed> {
    // Questions begin the measurement of delays anew, with the next turn but one of the loop.
    await this.kith.metric(delayMetric)
    await setTimeout(3 * delayPrecisionMs)
    const before = await this.kith.processorMs()
    const startedAt = performance.now()
    await this.ask(method, path, body)
    const tookMs = performance.now() - startedAt
    const cpuMs = (await this.kith.processorMs()) - before
    // A delay is known when the next turn of the loop was late.
    await setTimeout(3 * delayPrecisionMs)
    // Without any delay, what is measured is the precision.
    const measuredMs = (await this.kith.metric(delayMetric)) * 1000
    return { tookMs, cpuMs, delayMs: Math.max(0, measuredMs - delayPrecisionMs) }
  }
}

async function measurePages(
  client: Client,
  { seconds }: Settings,
  folder: { readonly few: FileId | undefined; readonly many: FileId | undefined },
): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const sort of sorts)
    for (const place of ['first', 'middle', 'by number'] as const) {
      const measure = async (fileId: FileId | undefined, files: number) => {
        const query = `parentId=${fileId}&sort=${sort}&limit=${pageSize}`
        const path = query + (await startOf(client, query, place, files))
        await client.list(path, seconds / 8)
        return await client.list(path, seconds / 4)
      }
      const before = await measure(folder.few, few)
      const after = await measure(folder.many, many)
      const name = `page of ${many} files to one of ${few}: ${sort}, ${place}`
      const { target, ...figure } = boundedFigure(name, '×', [after.p50Ms / before.p50Ms], pageAtMostTimes)
      const costs = { p50Ms: after.p50Ms, p99Ms: after.p99Ms, cpuMs: after.cpuMs }
      // A page by number tells how many files there are, and counts them for it.
      figures.push({ ...figure, ...costs, ...(target && place !== 'by number' && { target }) })
    }
  return figures
}

/** What makes a list begin in the middle. */
async function startOf(
  client: Client,
  query: string,
  place: 'first' | 'middle' | 'by number',
  files: number,
): Promise<string> {
  if (place === 'first') return ''
  if (place === 'by number') return `&offset=${files / 2}`
  let cursor = ''
  for (let passed = 0; passed < files / 2; passed += pageSize) {
    const { cursorPagination } = await client.ask('GET', `/api/files?${query}${cursor}`)
    cursor = `&cursor=${encodeURIComponent(cursorPagination?.nextCursor ?? '')}`
  }
  return cursor
}

async function measureTrees(client: Client, folders: readonly FileId[], runs: number): Promise<Figure[]> {
  const { data } = await client.ask('POST', '/api/files', { fileTp: 'FLDR', fileName: 'Elsewhere' })
  const parentId = (data as { fileId: FileId }).fileId
  const results = await repeat(runs, async (run) => {
    const [folder, other] = [folders[2 * run], folders[2 * run + 1]]
    const of = `/api/files/${folder}`
    const moved = await client.time('PATCH', of, { parentId })
    const trashed = await client.time('DELETE', of)
    const listed = await client.time('GET', `/api/files?parentId=__trash__&limit=${pageSize}`)
    const restored = await client.time('POST', `${of}/restore`, { parentId })
    await client.ask('DELETE', of)
    const removed = await client.time('DELETE', `${of}?permanent=true`)
    await client.ask('DELETE', `/api/files/${other}`)
    const emptied = await client.time('DELETE', '/api/trash')
    return { moved, trashed, listed, restored, removed, emptied }
  })
  const figures = (name: string, of: keyof (typeof results)[number], atMostMs: number): Figure[] => {
    const timed = results.map((result) => result[of])
    const times = timed.map(({ tookMs }) => tookMs)
    const delays = timed.map(({ delayMs }) => delayMs)
    const cpuMs = median(timed.map((one) => one.cpuMs))
    return [
      { ...boundedFigure(`${name} ${many} files`, 'ms', times, atMostMs), cpuMs },
      boundedFigure(`delay of others (p99): ${name}`, 'ms', delays, delayAtMostMs),
    ]
  }
  return [
    ...figures('move a folder of', 'moved', moveAtMostMs),
    ...figures('trash a folder of', 'trashed', treeAtMostMs),
    ...figures('list the trash with a folder of', 'listed', moveAtMostMs),
    ...figures('restore a folder of', 'restored', treeAtMostMs),
    ...figures('remove for ever a folder of', 'removed', removeAtMostMs),
    ...figures('empty the trash of a folder of', 'emptied', removeAtMostMs),
  ]
}
