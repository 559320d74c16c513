import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Kith, type ServedLoad, tempDir } from '../kith.ts'
import { allowFilesOf, type Headers, uploadRaw, zeros } from '../large-files.ts'
import { type Load, load } from '../load.ts'
import { boundedFigure, type Figure, median, rateFigure, repeat } from '../measure.ts'
import { firstLine, processorMs, spawnOn, stop } from '../processes.ts'
import { growthMb } from '../resident-memory.ts'
import type { Settings } from '../settings.ts'
import { costs, rates } from './reads.ts'

const staticFile = new URL('../ceilings/static-file.ts', import.meta.url)
const photo = new URL('../../../packages/server/test/fixtures/images/photo.jpg', import.meta.url)
const connections = 8
const targetShare = 0.7
const largeMebibytes = 1024
const slowReaders = 8
const pauseMs = 100
const maxGrowthMb = 80

/** Bytes of files to everybody and to their owner, and what a very large file takes of the memory. */
export async function serving(settings: Settings): Promise<Figure[]> {
  await using data = await tempDir()
  await using kith = await Kith.start(data.path, settings)
  const owner = { authorization: `Bearer ${await kith.signIn()}` }
  const body = randomBytes(1024 * 1024)
  const open = await uploadRaw(kith, owner, { name: 'open.bin', body, query: '?visibility=P' })
  const own = await uploadRaw(kith, owner, { name: 'own.bin', body: randomBytes(1024 * 1024) })
  const thumbnail = await uploadPhoto(kith, owner)
  const rated = [
    ...(await compare(kith, settings, body, [
      { name: 'public file of 1 MiB', path: `/api/files/${open}`, headers: {}, minShare: targetShare },
      { name: 'private file of 1 MiB', path: `/api/files/${own}`, headers: owner, minShare: targetShare },
    ])),
    ...(await compare(kith, settings, thumbnail.bytes, [
      { name: 'thumbnail of a private photo', path: thumbnail.path, headers: owner, minShare: 0 },
    ])),
  ]
  return [...rated, ...(await measureMemory(kith, settings, owner))]
}

async function uploadPhoto(kith: Kith, headers: Headers): Promise<{ path: string; bytes: Uint8Array }> {
  const body = await readFile(fileURLToPath(photo))
  const fileId = await uploadRaw(kith, headers, { name: 'photo.jpg', body, preset: 'default' })
  const path = `/api/files/${fileId}?variant=tn`
  for (;;) {
    const answer = await fetch(kith.url + path, { headers })
    const bytes = new Uint8Array(await answer.arrayBuffer())
    if (answer.headers.get('content-type') === 'image/webp') return { path, bytes }
    await setTimeout(pauseMs)
  }
}

interface Asked {
  readonly name: string
  readonly path: string
  readonly headers: Headers
  readonly minShare: number
}

/** In turns with a bare Fastify, so that other work on the machine meets both. */
async function compare(
  kith: Kith,
  { runs, seconds }: Settings,
  bytes: Uint8Array,
  asked: readonly Asked[],
): Promise<Figure[]> {
  await using data = await tempDir()
  const path = join(data.path, 'file')
  await writeFile(path, bytes)
  const bare = spawnOn(0, staticFile, { args: [path] })
  try {
    const { url } = await firstLine(bare)
    const request = { method: 'GET', connections, seconds } as const
    const loadBare = () => loadChild(bare.pid ?? 0, { ...request, url: `${url}/`, headers: {} })
    const loadKith = ({ path: of, headers }: Asked) =>
      kith.load({ ...request, path: of, headers, manyAddresses: true })
    for (const { path: of, headers } of asked) {
      const answer = await fetch(kith.url + of, { headers })
      if ((await answer.arrayBuffer()).byteLength !== bytes.byteLength)
        throw new Error(`${of} is another file`)
    }
    const once = async () => ({ bare: await loadBare(), asked: await inTurn(asked, loadKith) })
    await once()
    const results = await repeat(runs, once)
    const ceilings = results.map((result) => result.bare)
    const ceiling = { name: 'static file of a bare Fastify', value: median(rates(ceilings)) }
    return asked.map(({ name, minShare }, at) => {
      const served = results.flatMap((result) => result.asked[at] ?? [])
      const figure = { ...rateFigure(name, rates(served), ceiling, minShare), ...costs(served) }
      const byProcessor = (costs(ceilings).cpuMs ?? Number.NaN) / (figure.cpuMs ?? Number.NaN)
      const text = `${figure.target?.text} (${byProcessor.toFixed(2)} by processor time)`
      return { ...figure, ...(figure.target && { target: { ...figure.target, text } }) }
    })
  } finally {
    await stop(bare)
  }
}

async function inTurn<Item, Result>(
  items: readonly Item[],
  once: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  for (const item of items) results.push(await once(item))
  return results
}

async function loadChild(pid: number, request: Load): Promise<ServedLoad> {
  const before = await processorMs(pid)
  const result = await load(request)
  return { ...result, cpuMs: ((await processorMs(pid)) - before) / result.requests }
}

async function measureMemory(kith: Kith, { runs, seconds }: Settings, headers: Headers): Promise<Figure[]> {
  await allowFilesOf(kith, headers, largeMebibytes)
  const fileId = await uploadRaw(kith, headers, { name: 'zeros.bin', body: zeros(largeMebibytes) })
  const address = `${kith.url}/api/files/${fileId}`
  const slowly = () =>
    Promise.all(Array.from({ length: slowReaders }, () => readSlowly(address, headers, seconds)))
  const whole = async () => {
    for await (const _piece of (await fetch(address, { headers })).body ?? []);
  }
  const slow = await repeat(runs, () => growthMb(kith, async () => void (await slowly())))
  const fast = await repeat(runs, () => growthMb(kith, whole))
  return [
    boundedFigure(`memory that ${slowReaders} slow readers of 1 GiB take`, 'MB', slow, maxGrowthMb),
    boundedFigure('memory that a reader of 1 GiB takes', 'MB', fast, maxGrowthMb),
  ]
}

async function readSlowly(address: string, headers: Headers, seconds: number): Promise<void> {
  const response = await fetch(address, { headers })
  const reader = response.body?.getReader()
  const endsAt = performance.now() + seconds * 1000
  while (performance.now() < endsAt) {
    await reader?.read()
    await setTimeout(pauseMs)
  }
  await reader?.cancel()
}
