import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import sharp from 'sharp'
import { Kith, tempDir } from '../kith.ts'
import { type Figure, median, repeat } from '../measure.ts'
import { runOn } from '../processes.ts'
import type { Settings } from '../settings.ts'
import { uploadUntilActive } from './uploads.ts'

const photo = new URL('../../../packages/server/test/fixtures/images/photo.jpg', import.meta.url)
const ceiling = new URL('../ceilings/pictures.ts', import.meta.url)
const size = { width: 4000, height: 3000 }
const together = 8
const targetShare = 0.8

interface Alone {
  readonly durationsMs: number[]
  readonly cpuMs: number[]
}

/** Uploads of photos of 12 megapixels until all their variants are there, one by one and several at once. */
export async function pictures(settings: Settings): Promise<Figure[]> {
  await using data = await tempDir()
  await using kith = await Kith.start(data.path, settings)
  const token = await kith.signIn()
  const bytes = await makePhoto()
  const path = join(data.path, 'photo.jpg')
  await writeFile(path, bytes)
  const upload = (askEveryMs: number) => uploadUntilActive(kith, token, unlikeOthers(bytes), askEveryMs)
  // The first one starts the worker process.
  await upload(5)
  const results = await repeat(settings.runs, async () => ({
    alone: await runOn<Alone>(0, ceiling, { path, times: 3 }),
    single: await timed(kith, 1, () => upload(10)),
    many: await timed(kith, together, () => Promise.all(Array.from({ length: together }, () => upload(100)))),
  }))
  const alone = {
    tookMs: median(results.flatMap((result) => result.alone.durationsMs)),
    cpuMs: median(results.flatMap((result) => result.alone.cpuMs)),
  }
  return [
    figureOf(
      'upload of a 12 MP photo until status A',
      results.map(({ single }) => single),
      alone,
    ),
    figureOf(
      `the same, of ${together} at once, for each`,
      results.map(({ many }) => many),
      alone,
    ),
  ]
}

/** The worker shares the server's processor, so `sharp` alone gets the same one. */
function figureOf(name: string, timings: readonly Timing[], alone: Timing): Figure {
  const runs = timings.map(({ tookMs }) => tookMs)
  const cpuMs = median(timings.map((timing) => timing.cpuMs))
  const tookMs = median(runs)
  const share = alone.tookMs / tookMs
  const byProcessor = alone.cpuMs / cpuMs
  return {
    name,
    unit: 'ms',
    isRate: false,
    runs,
    median: tookMs,
    cpuMs,
    ceiling: { name: 'sharp alone making the same outputs', value: alone.tookMs },
    target: {
      text: `${share.toFixed(2)} of ceiling (${byProcessor.toFixed(2)} by processor time), target >= ${targetShare}`,
      isMet: share >= targetShare,
    },
  }
}

interface Timing {
  readonly tookMs: number
  readonly cpuMs: number
}

/** Time for each of `count` pictures, and processor time of server and worker. */
async function timed(kith: Kith, count: number, happen: () => Promise<unknown>): Promise<Timing> {
  const before = await kith.processorMs()
  const startedAt = performance.now()
  await happen()
  const tookMs = performance.now() - startedAt
  return { tookMs: tookMs / count, cpuMs: ((await kith.processorMs()) - before) / count }
}

/** As a camera writes them: enlarged alone, a photo would be smoother than any sensor. */
async function makePhoto(): Promise<Buffer> {
  const background = { r: 128, g: 128, b: 128 }
  const noise = { type: 'gaussian', mean: 128, sigma: 20 } as const
  const grain = await sharp({ create: { ...size, channels: 3, background, noise } })
    .png()
    .toBuffer()
  return await sharp(fileURLToPath(photo))
    .resize(size.width, size.height, { fit: 'fill' })
    .composite([{ input: grain, blend: 'soft-light' }])
    .jpeg({ quality: 88 })
    .toBuffer()
}

/** What follows the end of a picture is not looked at, and makes its bytes others. */
function unlikeOthers(bytes: Buffer): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.concat([bytes, randomBytes(16)]))
}
