import { Kith, tempDir } from '../kith.ts'
import { boundedFigure, type Figure, repeat } from '../measure.ts'
import type { Settings } from '../settings.ts'

const idleSecs = 5

/** From the start of the process to the first answer, on a data directory that exists; and the memory at rest. */
export async function startup({ runs }: Settings): Promise<Figure[]> {
  await using data = await tempDir()
  await (await Kith.start(data.path))[Symbol.asyncDispose]()
  const measured = await repeat(runs, async () => {
    const startedAt = performance.now()
    await using kith = await Kith.start(data.path)
    const response = await fetch(`${kith.url}/api/me`)
    if (!response.ok) throw new Error(`/api/me answered ${response.status}`)
    const coldMs = performance.now() - startedAt
    await new Promise((resolve) => setTimeout(resolve, idleSecs * 1000))
    return { coldMs, idleMb: await kith.residentMb() }
  })
  return [
    boundedFigure(
      'cold start to first answer',
      'ms',
      measured.map(({ coldMs }) => coldMs),
      1500,
    ),
    boundedFigure(
      'idle memory',
      'MB',
      measured.map(({ idleMb }) => idleMb),
      130,
    ),
  ]
}
