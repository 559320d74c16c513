import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32, deflateSync } from 'node:zlib'
import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ImageDesk, pictures } from '#harness/image-desk.ts'

let desk: ImageDesk

beforeAll(async () => {
  desk = await ImageDesk.open()
})
afterAll(() => desk[Symbol.asyncDispose]())

function pngChunk(name: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(name, 'latin1'), data])
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  check.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, check])
}

/** A grey PNG of one bit per pixel that claims a size and holds these rows. */
function png(width: number, height: number, options: { rows?: Uint8Array; extra?: Buffer[] } = {}): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([1, 0, 0, 0, 0], 8)
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    pngChunk('IHDR', header),
    ...(options.extra ?? []),
    pngChunk('IDAT', deflateSync(options.rows ?? Buffer.alloc(8))),
    pngChunk('IEND', Buffer.alloc(0)),
  ])
}

/** A TIFF without compression whose only directory claims this size; it has no pixels. */
function tiff([width, height]: [number, number], { dataAt = 200, next = 0 } = {}): Buffer {
  const entries = [
    [256, 4, 1, width],
    [257, 4, 1, height],
    [258, 3, 1, 8],
    [259, 3, 1, 1],
    [262, 3, 1, 1],
    [273, 4, 1, dataAt],
    [277, 3, 1, 1],
    [278, 4, 1, height],
    [279, 4, 1, width * height],
  ] as const
  const file = Buffer.alloc(200)
  file.write('II*\0\x08\0\0\0', 'latin1')
  file.writeUInt16LE(entries.length, 8)
  entries.forEach(([tag, type, count, value], index) => {
    const at = 10 + index * 12
    file.writeUInt16LE(tag, at)
    file.writeUInt16LE(type, at + 2)
    file.writeUInt32LE(count, at + 4)
    file.writeUInt32LE(value % 2 ** 32, at + 8)
  })
  file.writeUInt32LE(next, 10 + entries.length * 12)
  return file
}

/** A GIF of 1×1 pixels and so many frames, 18 bytes each. */
function gif(frames: number): Buffer {
  const start = Buffer.from('4749463839610100010080000000000000ffffff', 'hex')
  const frame = Buffer.from('21f90400010000002c00000000010001000002024401003b', 'hex').subarray(0, 23)
  return Buffer.concat([
    start.subarray(0, 13),
    Buffer.from('000000ffffff', 'hex'),
    ...Array(frames).fill(frame),
    Buffer.from('3b', 'hex'),
  ])
}

async function withExif(tiff: Buffer): Promise<Buffer> {
  const jpeg = await sharp({ create: { width: 200, height: 100, channels: 3, background: 'red' } })
    .jpeg()
    .toBuffer()
  const exif = Buffer.concat([Buffer.from('Exif\0\0', 'latin1'), tiff])
  const marker = Buffer.from([0xff, 0xe1, 0, 0])
  marker.writeUInt16BE(exif.length + 2, 2)
  return Buffer.concat([jpeg.subarray(0, 2), marker, exif, jpeg.subarray(2)])
}

/** A true JPEG whose frame header claims another size. */
async function jpegClaiming(width: number, height: number): Promise<Buffer> {
  const jpeg = await readFile(join(pictures, 'orientation-6.jpg'))
  const frame = jpeg.indexOf(Buffer.from([0xff, 0xc0]))
  jpeg.writeUInt16BE(height, frame + 5)
  jpeg.writeUInt16BE(width, frame + 7)
  return jpeg
}

const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9"/></svg>'
const manyPixels = 'The picture has too many pixels.'
const manyFrames = 'The animation has too many frames.'
const unsupported = expect.stringContaining('This kind of picture cannot be read')
const damaged = 'The picture is damaged.'

const refused: readonly [string, () => Promise<Buffer | string>, unknown][] = [
  ['a PNG of 400 megapixels in its header', async () => png(20_000, 20_000), manyPixels],
  ['a PNG of the largest size there is', async () => png(2 ** 31 - 1, 2 ** 31 - 1), expect.any(String)],
  ['a JPEG that claims 4 gigapixels', () => jpegClaiming(65_500, 65_500), manyPixels],
  ['a GIF of 30 000 frames', async () => gif(30_000), manyFrames],
  ['half a JPEG', async () => (await readFile(join(pictures, 'photo.jpg'))).subarray(0, 130_000), damaged],
  ['half an AVIF', async () => (await readFile(join(pictures, 'still.avif'))).subarray(0, 800), damaged],
  ['half a WebP', async () => (await readFile(join(pictures, 'still.webp'))).subarray(0, 1400), damaged],
  ['a PNG without rows', async () => png(300, 300), damaged],
  ['text', async () => 'This is not a JPEG.', unsupported],
  ['nothing', async () => '', unsupported],
  ['SVG', async () => svg, unsupported],
  ['SVG with a declaration', async () => `<?xml version="1.0"?>${svg}`, unsupported],
  ['a TIFF that claims 60 000 × 60 000 pixels', async () => tiff([60_000, 60_000]), manyPixels],
  [
    'a TIFF whose pixels are behind its end',
    async () => tiff([300, 200], { dataAt: 4_000_000_000 }),
    damaged,
  ],
  ['a TIFF whose directory follows itself', async () => tiff([300, 200], { next: 8, dataAt: 9999 }), damaged],
  ['PPM', async () => 'P3\n1 1\n255\n255 0 0\n', unsupported],
  ['the format of libvips itself', async () => Buffer.from('08f2a6b6'.padEnd(400, '0'), 'hex'), unsupported],
]

describe('Refused once and for all', () => {
  test.each(refused)('%s', async (name, bytes, reason) => {
    const path = await desk.original(`${name.replaceAll(/\W/g, '-')}.jpg`, await bytes())
    expect(await desk.process(path)).toEqual({ kind: 'unprocessable', reason })
  })

  test('without a word about paths of the server', async () => {
    const { reason } = (await desk.process(await desk.original('x.jpg', 'x'))) as { reason: string }
    expect(reason).not.toContain('/')
  })

  test('an animation with more pixels in all its frames than allowed', async () => {
    const frame = 960 * 480
    await using strict = await ImageDesk.open({ maxPixels: frame * 4 })
    expect(await strict.process('animated.gif')).toEqual({ kind: 'unprocessable', reason: manyPixels })
    await using lenient = await ImageDesk.open({ maxPixels: frame * 5 })
    expect(await lenient.process('animated.gif')).toMatchObject({ kind: 'made' })
  })
})

describe('Strange and harmless', () => {
  test.each([
    ['wide', 65_535, 1, ['hd 1920x1', 'sd 640x1', 'tn 150x1', 'ic 64x1']],
    ['high', 1, 65_535, ['hd 1x1920', 'sd 1x640', 'tn 1x150', 'ic 1x64']],
  ])('a picture one pixel high or wide: %s', async (name, width, height, expected) => {
    const bytes = await sharp({ create: { width, height, channels: 3, background: '#808080' } })
      .png()
      .toBuffer()
    const path = await desk.original(`${name}.png`, bytes)
    for (const format of ['webp', 'avif'] as const) {
      const { outputs } = await desk.made(path, { format })
      expect(outputs.map((o) => `${o.variant} ${o.width}x${o.height}`)).toEqual(expected)
    }
  })

  test('80 megapixels of nothing in 10 kB', async () => {
    const [width, height] = [10_000, 8_000]
    const bytes = png(width, height, { rows: Buffer.alloc((width / 8 + 1) * height) })
    expect(bytes.length).toBeLessThan(15_000)
    expect(await desk.made(await desk.original('flat.png', bytes))).toMatchObject({
      original: { width, height },
    })
  })

  test.each([
    ['a JPEG of 25 megapixels that holds a hundredth of them', () => jpegClaiming(5000, 5000)],
    ['EXIF that points 4 GB away', () => withExif(Buffer.from('4d4d002afffffff0', 'hex'))],
    [
      'EXIF that points at itself',
      () => withExif(Buffer.from('4d4d002a000000080001876900040000000100000008', 'hex')),
    ],
    [
      'a colour profile of 256 MB in 256 kB',
      async () => {
        const profile = Buffer.concat([Buffer.from('bomb\0\0'), deflateSync(Buffer.alloc(2 ** 28))])
        return png(300, 200, { rows: Buffer.alloc((38 + 1) * 200), extra: [pngChunk('iCCP', profile)] })
      },
    ],
  ])('%s', async (name, bytes) => {
    const path = await desk.original(name.replaceAll(' ', '-'), await bytes())
    expect((await desk.made(path)).outputs.length).toBeGreaterThan(0)
  })

  test('all of them in one worker, which never died', () => {
    expect(desk.said('An image worker died')).toEqual([])
    expect(desk.pids).toHaveLength(1)
  })
})
