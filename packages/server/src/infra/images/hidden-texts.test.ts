import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ImageDesk } from '#harness/image-desk.ts'
import { mark, markedPictures } from '#harness/marked-pictures.ts'

let desk: ImageDesk
beforeAll(async () => {
  desk = await ImageDesk.open()
})
afterAll(() => desk[Symbol.asyncDispose]())

test.each(markedPictures)('no variant of $format says what stands in $place', async ({ format, make }) => {
  for (const [width, height] of [
    [300, 200],
    [100, 80],
    [2000, 20],
  ] as const) {
    const bytes = await make([width, height])
    expect(bytes.includes(mark)).toBe(true)
    const { outputs } = await desk.made(await desk.original(`marked-${width}.${format}`, bytes))
    // Of its pixels, for everybody who is not shown the original.
    const [largest] = outputs
    expect([largest?.variant, largest?.width]).toEqual(['hd', Math.min(width, 1920)])
    for (const { path } of outputs) expect((await readFile(path)).includes(mark)).toBe(false)
  }
})
