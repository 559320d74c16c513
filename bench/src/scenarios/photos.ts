import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { Kith, tempDir } from '../kith.ts'
import { boundedFigure, type Figure, median, repeat } from '../measure.ts'
import { runDuring } from '../processes.ts'
import type { Settings } from '../settings.ts'

const photo = new URL('../../../packages/server/test/fixtures/images/photo.jpg', import.meta.url)
const reader = new URL('../paced-reader.ts', import.meta.url)
const photoCount = 200
const uploadsAtOnce = 4
const smallBytes = 4096
const everyMs = 10
const mostTimesIdle = 2
const alwaysFineMs = 15

export interface PacedReading {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly everyMs: number
}

export interface PacedResult {
  readonly requests: number
  readonly p50Ms: number
  readonly p99Ms: number
}

/** How long a small file takes to read while another tenant uploads many photos, and while none does. The pictures are made
 * on the processor that the server has. */
export async function photos(settings: Settings): Promise<Figure[]> {
  const bytes = await readFile(photo)
  const runs = await repeat(settings.runs, async () => {
    await using data = await tempDir()
    await using kith = await Kith.start(data.path, settings)
    const headers = { authorization: `Bearer ${await kith.signIn()}` }
    const small = await upload(kith, headers, { preset: 'raw', bytes: randomBytes(smallBytes) })
    const reading = { url: `${kith.url}/api/files/${small}`, headers, everyMs }
    // The first picture starts the worker, and the first readings warm up.
    await untilMade(kith, headers, [await upload(kith, headers, { preset: 'default', bytes })])
    const pause = () => new Promise<void>((resolve) => setTimeout(resolve, settings.seconds * 1000))
    const readIdle = () => runDuring<PacedResult>(reader, reading, pause)
    await readIdle()
    const before = await readIdle()
    const startedAt = performance.now()
    const busy = await runDuring<PacedResult>(reader, reading, () => uploadAll(kith, headers, bytes))
    const tookSecs = (performance.now() - startedAt) / 1000
    return { idle: [before, await readIdle()], busy, tookSecs }
  })
  const busyMs = runs.map(({ busy }) => busy.p99Ms)
  const idleMs = median(runs.flatMap(({ idle }) => idle.map(({ p99Ms }) => p99Ms)))
  const figure = boundedFigure(
    `reading a small file during ${photoCount} photos, p99`,
    'ms',
    busyMs,
    Math.max(alwaysFineMs, mostTimesIdle * idleMs),
  )
  const tookSecs = runs.map((run) => run.tookSecs)
  const took = {
    name: `${photoCount} photos until the last has its variants`,
    unit: 's',
    isRate: false,
    runs: tookSecs,
    median: median(tookSecs),
  }
  return [
    {
      ...figure,
      p50Ms: median(runs.map(({ busy }) => busy.p50Ms)),
      p99Ms: figure.median,
      ceiling: { name: 'the same while nothing is uploaded', value: idleMs },
    },
    took,
  ]
}

type Headers = Readonly<Record<string, string>>

async function uploadAll(kith: Kith, headers: Headers, photo: Uint8Array): Promise<void> {
  const fileIds: string[] = []
  let sent = 0
  async function client(): Promise<void> {
    while (sent < photoCount) {
      sent += 1
      // Each with bytes of its own behind the picture, as no two photos are the same.
      const bytes = Buffer.concat([photo, randomBytes(16)])
      fileIds.push(await upload(kith, headers, { preset: 'default', bytes }))
    }
  }
  await Promise.all(Array.from({ length: uploadsAtOnce }, client))
  await untilMade(kith, headers, fileIds)
}

async function upload(
  kith: Kith,
  headers: Headers,
  { preset, bytes }: { readonly preset: string; readonly bytes: Uint8Array<ArrayBuffer> },
): Promise<string> {
  const response = await fetch(`${kith.url}/api/files/${preset}/photo.jpg`, {
    method: 'POST',
    headers: { ...headers, 'content-type': preset === 'raw' ? 'application/octet-stream' : 'image/jpeg' },
    body: bytes,
  })
  if (response.status !== 201) throw new Error(`an upload answered ${response.status}`)
  return ((await response.json()) as { data: { fileId: string } }).data.fileId
}

async function untilMade(kith: Kith, headers: Headers, fileIds: readonly string[]): Promise<void> {
  for (const fileId of fileIds) {
    for (;;) {
      const response = await fetch(`${kith.url}/api/files/${fileId}/metadata`, { headers })
      const { data } = (await response.json()) as { data: { status: string; x?: object } }
      if (data.x) throw new Error(`a photo could not be processed: ${JSON.stringify(data.x)}`)
      if (data.status === 'A') break
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
}
