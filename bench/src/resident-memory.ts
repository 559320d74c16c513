import type { Kith } from './kith.ts'

const sampleEveryMs = 50

/** The most that the server has grown by while something happened, in MB. */
export async function growthMb(kith: Kith, happen: () => Promise<void>): Promise<number> {
  const before = await kith.residentMb()
  let most = before
  let isOver = false
  const happening = happen().finally(() => {
    isOver = true
  })
  while (!isOver) {
    most = Math.max(most, await kith.residentMb())
    await new Promise((resolve) => setTimeout(resolve, sampleEveryMs))
  }
  await happening
  return most - before
}
