import { rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import sharp from 'sharp'
import { thumbHashToRGBA } from 'thumbhash'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ImageDesk, pictures } from '#harness/image-desk.ts'
import { type ImagePreset, type ImageResult, imagePresets } from './images.ts'

let desk: ImageDesk

beforeAll(async () => {
  desk = await ImageDesk.open()
})
afterAll(() => desk[Symbol.asyncDispose]())

type Made = Extract<ImageResult, { kind: 'made' }>

const pathOf = (result: Made, variant: string) =>
  result.outputs.find((output) => output.variant === variant)?.path ?? 'not made'

async function pixel(path: string, x: number, y: number): Promise<number[]> {
  const { data, info } = await sharp(path).raw().toBuffer({ resolveWithObject: true })
  const { width, height, channels } = info
  const at =
    (Math.min(height - 1, Math.round(y * height)) * width + Math.min(width - 1, Math.round(x * width))) *
    channels
  return [...data.subarray(at, at + channels)]
}

function expectNear(colour: readonly number[], expected: readonly number[], tolerance = 14): void {
  expect(colour.length).toBe(expected.length)
  colour.forEach((channel, index) => {
    expect(Math.abs(channel - expected[index]!), `${colour} is not near ${expected}`).toBeLessThanOrEqual(
      tolerance,
    )
  })
}

const corners = [
  [0.25, 0.25, [220, 0, 0]],
  [0.75, 0.25, [0, 160, 0]],
  [0.25, 0.75, [0, 0, 220]],
  [0.75, 0.75, [240, 220, 0]],
] as const

describe('A photo of a phone', () => {
  test('is put upright, and measured upright', async () => {
    const result = await desk.made('orientation-6.jpg')
    expect(result.original).toEqual({ width: 400, height: 600, format: 'jpeg', frames: 1 })
    expect(result.outputs.map((o) => [o.variant, o.width, o.height])).toEqual([
      ['hd', 400, 600],
      ['tn', 100, 150],
      ['ic', 43, 64],
    ])
    for (const [x, y, colour] of corners) expectNear(await pixel(pathOf(result, 'tn'), x, y), colour)
  })

  test('tells nobody where it was taken, nor with what', async () => {
    const before = await sharp(join(pictures, 'photo.jpg')).metadata()
    expect(before.exif?.includes('Procedural')).toBe(true)
    expect(before.exif?.includes(Buffer.from('2588', 'hex'))).toBe(true)
    for (const format of ['webp', 'avif'] as const) {
      const { outputs } = await desk.made('photo.jpg', { format })
      expect(outputs.map((output) => output.variant)).toEqual(['hd', 'sd', 'tn', 'ic'])
      for (const { path } of outputs) {
        const after = await sharp(path).metadata()
        expect([after.exif, after.xmp, after.iptc, after.orientation]).toEqual(Array(4).fill(undefined))
      }
    }
  })
})

test('a small picture that tells more than it shows has a variant of its size that does not', async () => {
  const { outputs } = await desk.made('orientation-6.jpg')
  const [largest] = outputs
  const { exif, width } = await sharp(largest?.path ?? '').metadata()
  expect([largest?.variant, width, exif]).toEqual(['hd', 400, undefined])
  const silent = await desk.made('still.webp')
  expect(silent.outputs.map(({ variant }) => variant)).not.toContain('hd')
})

describe('TIFF', () => {
  test('is shown by its first page', async () => {
    const tiff = await sharp({ create: { width: 2500, height: 1000, channels: 3, background: '#c04080' } })
      .tiff({ compression: 'lzw' })
      .toBuffer()
    const result = await desk.made(await desk.original('scan.tiff', tiff))
    expect(result.original).toEqual({ width: 2500, height: 1000, format: 'tiff', frames: 1 })
    expect(result.outputs.map(({ variant }) => variant)).toEqual(['hd', 'sd', 'tn', 'ic'])
    expectNear(await pixel(pathOf(result, 'hd'), 0.5, 0.5), [192, 64, 128])
  })
})

describe('Every variant', () => {
  const names = ['photo.jpg', 'transparent.png', 'still.webp', 'still.avif', 'animated.gif', 'animated.webp']
  const cases = names.flatMap((name) => imagePresets.map((preset) => [name, preset] as const))

  test.each(cases)('of %s for %s is the file that the answer tells', async (name, preset) => {
    const { original, outputs } = await desk.made(name, { preset })
    for (const output of outputs) {
      const { width, height, pageHeight, format } = await sharp(output.path).metadata()
      expect({ width, height: pageHeight ?? height, format }).toEqual({
        width: output.width,
        height: output.height,
        format: 'webp',
      })
      expect((await stat(output.path)).size).toBe(output.size)
      expect(output.width).toBeLessThanOrEqual(original.width)
      expect(output.height).toBeLessThanOrEqual(original.height)
    }
  })

  test('is AVIF where that is wanted', async () => {
    const { outputs } = await desk.made('still.webp', { format: 'avif' })
    expect(outputs.map((output) => output.format)).toEqual(['avif', 'avif', 'avif'])
    for (const { path } of outputs) expect((await sharp(path).metadata()).compression).toBe('av1')
  })

  test.each([
    ['photo.jpg', 'jpeg'],
    ['transparent.png', 'png'],
    ['still.webp', 'webp'],
    ['still.avif', 'avif'],
    ['animated.gif', 'gif'],
  ])('comes with the true format of %s, whatever its name', async (name, format) => {
    expect((await desk.made(name)).original.format).toBe(format)
  })
})

describe('Colours', () => {
  test('of a wide gamut look the same in sRGB', async () => {
    const result = await desk.made('wide-gamut.jpg')
    for (const [x, y, colour] of corners) expectNear(await pixel(pathOf(result, 'tn'), x, y), colour)
  })

  test('of 16 bits, of grey and of print come out as sRGB', async () => {
    const plain = sharp({ create: { width: 300, height: 200, channels: 3, background: '#c04080' } })
    const deep = await plain.clone().toColourspace('rgb16').png().toBuffer()
    const grey = await plain.clone().greyscale().png().toBuffer()
    const print = await plain.clone().toColourspace('cmyk').jpeg().toBuffer()
    const shown = async (name: string, bytes: Buffer) =>
      pixel(pathOf(await desk.made(await desk.original(name, bytes)), 'tn'), 0.5, 0.5)
    expectNear(await shown('deep.png', deep), [192, 64, 128])
    const [value = 0] = await sharp(grey).raw().toBuffer()
    expectNear(await shown('grey.png', grey), [value, value, value])
    expectNear(await shown('print.jpg', print), [192, 64, 128], 30)
  })

  test('that are transparent stay so', async () => {
    for (const format of ['webp', 'avif'] as const) {
      const result = await desk.made('transparent.png', { format })
      expectNear(await pixel(pathOf(result, 'tn'), 0.5, 0.5), [20, 170, 90, 255])
      expect((await pixel(pathOf(result, 'tn'), 0.01, 0.01))[3]).toBe(0)
    }
  })
})

describe('An animation', () => {
  test.each(['animated.gif', 'animated.webp'])('keeps moving in `sd`, at its pace: %s', async (name) => {
    for (const format of ['webp', 'avif'] as const) {
      const result = await desk.made(name, { format })
      expect(result.original).toMatchObject({ width: 960, height: 480, frames: 5 })
      const { pages, delay, loop, width, pageHeight } = await sharp(pathOf(result, 'sd'), {
        animated: true,
      }).metadata()
      expect({ pages, delay, loop, width, pageHeight }).toEqual({
        pages: 5,
        delay: Array(5).fill(100),
        loop: 0,
        width: 640,
        pageHeight: 320,
      })
    }
  })

  test('shows its first frame in the small ones and in crops', async () => {
    const small = await desk.made('animated.gif')
    const square = await desk.made('animated.webp', { preset: 'profile-picture' })
    for (const path of [pathOf(small, 'tn'), pathOf(small, 'ic'), pathOf(square, 'orig')]) {
      expect((await sharp(path).metadata()).pages ?? 1).toBe(1)
      expectNear((await pixel(path, 0.5, 0.5)).slice(0, 3), [220, 30, 30])
    }
  })
})

describe('A crop', () => {
  test.each([
    ['profile-picture', 400, 400],
    ['cover-photo', 400, 225],
  ] as const)('for %s takes the middle of the upright picture', async (preset, width, height) => {
    const result = await desk.made('orientation-6.jpg', { preset: preset as ImagePreset })
    expect(result.outputs[0]).toMatchObject({ variant: 'orig', width, height })
    for (const [x, y, colour] of corners) expectNear(await pixel(pathOf(result, 'orig'), x, y), colour)
  })

  test('cuts and does not squeeze', async () => {
    const result = await desk.made('transparent.png', { preset: 'profile-picture' })
    // The disc's radius is 128 of now 320 pixels, in both directions.
    for (const [x, y] of [
      [0.5, 0.15],
      [0.15, 0.5],
    ] as const)
      expect((await pixel(pathOf(result, 'orig'), x, y))[3]).toBe(255)
  })
})

test('A picture smaller than an icon has no variants, and is a picture all the same', async () => {
  const tiny = sharp({ create: { width: 1, height: 1, channels: 4, background: '#00000000' } })
  const path = await desk.original('tiny.png', await tiny.png().toBuffer())
  expect(await desk.process(path)).toEqual({
    kind: 'made',
    original: { width: 1, height: 1, format: 'png', frames: 1 },
    thumbhash: expect.any(String),
    outputs: [],
  })
  const { outputs } = await desk.made(path, { preset: 'thumbnail-only', format: 'avif' })
  expect(outputs).toMatchObject([{ variant: 'tn', width: 1, height: 1 }])
})

describe('The ThumbHash', () => {
  const likenessOf = (thumbhash: string) => thumbHashToRGBA(Buffer.from(thumbhash, 'base64'))

  test('shows the colours of a picture in its proportions, upright or cut as that was', async () => {
    const half = { create: { width: 600, height: 300, channels: 3, background: '#c04080' } } as const
    const path = await desk.original('wide.png', await sharp(half).png().toBuffer())
    for (const [preset, ratio] of [
      ['default', 2],
      ['profile-picture', 1],
    ] as const) {
      const { thumbhash } = await desk.made(path, { preset })
      expect(Buffer.from(thumbhash, 'base64').length).toBeLessThanOrEqual(25)
      const { w, h, rgba } = likenessOf(thumbhash)
      expect(w / h).toBeCloseTo(ratio, 0)
      expectNear([...rgba.subarray(0, 4)], [192, 64, 128, 255], 24)
    }
  })

  test('is made of pictures of one channel, of one line, transparent ones and animations', async () => {
    const line = { create: { width: 1, height: 400, channels: 3, background: '#808080' } } as const
    for (const bytes of [
      await sharp(line).png().toBuffer(),
      await sharp({ create: { ...line.create, width: 20, height: 20 } })
        .greyscale()
        .png()
        .toBuffer(),
    ]) {
      const { rgba } = likenessOf((await desk.made(await desk.original('plain.png', bytes))).thumbhash)
      expectNear([...rgba.subarray(0, 4)], [128, 128, 128, 255], 32)
    }
    const transparent = likenessOf((await desk.made('transparent.png')).thumbhash)
    expect(transparent.rgba[3]).toBeLessThan(128)
    for (const name of ['animated.gif', 'animated.webp'])
      expect((await desk.made(name)).thumbhash).toMatch(/^[A-Za-z0-9+/]{6,34}={0,2}$/)
  })
})

test('An original that is gone is no bad picture: the job may be tried again', async () => {
  const path = await desk.original('gone.png', '')
  await rm(path)
  await expect(desk.process(path)).rejects.toMatchObject({ code: 'E-UNAVAILABLE' })
})
