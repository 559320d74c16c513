import sharp from 'sharp'
import { expect, test } from 'vitest'
import { limitedSharp } from './limited-sharp.ts'

const red = () => sharp({ create: { width: 20, height: 10, channels: 3, background: 'red' } })

test.each([
  ['JPEG', () => red().jpeg().toBuffer()],
  ['PNG', () => red().png().toBuffer()],
  ['WebP', () => red().webp().toBuffer()],
  ['AVIF', () => red().avif().toBuffer()],
  ['GIF', () => red().gif().toBuffer()],
  ['TIFF', () => red().tiff().toBuffer()],
])('%s is read', async (_, bytes) => {
  expect(await limitedSharp(await bytes()).metadata()).toMatchObject({ width: 20, height: 10 })
})

test.each([
  ['SVG', async () => Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>')],
  ['PPM', async () => Buffer.from('P3\n1 1\n255\n255 0 0\n')],
])('%s does not even reach its decoder', async (_, bytes) => {
  await expect(limitedSharp(await bytes()).metadata()).rejects.toThrow('unsupported image format')
})
