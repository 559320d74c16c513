import sharp from 'sharp'
import { readInput } from '../processes.ts'

/** `sharp` alone making the outputs that the server makes of one photo, each from the file, as fast as it can. */
const { path, times } = await readInput<{ path: string; times: number }>()
sharp.cache(false)
const sizes = [64, 150, 640, 1920]
const durationsMs: number[] = []
const cpuMs: number[] = []
for (let run = 0; run < times + 1; run += 1) {
  const startedAt = performance.now()
  const before = process.cpuUsage()
  for (const size of sizes) {
    const options = { fit: 'inside', withoutEnlargement: true } as const
    await sharp(path).rotate().resize(size, size, options).webp({ effort: 2 }).toBuffer()
  }
  // The first run warms up.
  if (run === 0) continue
  const { user, system } = process.cpuUsage(before)
  durationsMs.push(performance.now() - startedAt)
  cpuMs.push((user + system) / 1000)
}
process.stdout.write(JSON.stringify({ durationsMs, cpuMs }))
