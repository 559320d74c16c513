import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { Kith, tempDir } from '../kith.ts'
import { type Figure, median, repeat } from '../measure.ts'
import { runOn } from '../processes.ts'
import type { Settings } from '../settings.ts'

const photo = new URL('../../../packages/server/test/fixtures/images/photo.jpg', import.meta.url)
const pictures = new URL('../ceilings/pictures.ts', import.meta.url)
const uploadsPerRun = 5
const targetShare = 0.7

/** Upload of a photo of 3.5 megapixels until all its variants are there. */
export async function uploads(settings: Settings): Promise<Figure[]> {
  const { runs } = settings
  await using data = await tempDir()
  await using kith = await Kith.start(data.path, settings)
  const token = await kith.signIn()
  const bytes = await readFile(photo)
  // The first one starts the worker process.
  await uploadUntilActive(kith, token, bytes)
  const durationsMs = await repeat(runs, async () =>
    median(await repeat(uploadsPerRun, () => uploadUntilActive(kith, token, bytes))),
  )
  // The worker shares the server's processor, so `sharp` alone gets the same one.
  const alone = await runOn<{ durationsMs: number[] }>(0, pictures, {
    path: fileURLToPath(photo),
    times: runs * 3,
  })
  const aloneMs = median(alone.durationsMs)
  const tookMs = median(durationsMs)
  const share = aloneMs / tookMs
  return [
    {
      name: 'upload of a 3.5 MP photo until status A',
      unit: 'ms',
      isRate: false,
      runs: durationsMs,
      median: tookMs,
      ceiling: { name: 'sharp alone making the same outputs', value: aloneMs },
      target: {
        text: `${share.toFixed(2)} of ceiling, target >= ${targetShare}`,
        isMet: share >= targetShare,
      },
    },
  ]
}

/** Answers how long it took. */
export async function uploadUntilActive(
  kith: Kith,
  token: string,
  bytes: Uint8Array<ArrayBuffer>,
  askEveryMs = 5,
): Promise<number> {
  const headers = { authorization: `Bearer ${token}` }
  const startedAt = performance.now()
  const response = await fetch(`${kith.url}/api/files/default/photo.jpg`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'image/jpeg' },
    body: bytes,
  })
  const { data } = (await response.json()) as { data: { fileId: string } }
  for (;;) {
    const metadata = await fetch(`${kith.url}/api/files/${data.fileId}/metadata`, { headers })
    const answer = (await metadata.json()) as { data: { status: string; x?: object } }
    if (answer.data.x) throw new Error(`the photo could not be processed: ${JSON.stringify(answer.data.x)}`)
    if (answer.data.status === 'A') return performance.now() - startedAt
    await new Promise((resolve) => setTimeout(resolve, askEveryMs))
  }
}
