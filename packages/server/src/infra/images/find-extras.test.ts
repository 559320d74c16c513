import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { pictures } from '#harness/image-desk.ts'
import { markedPictures } from '#harness/marked-pictures.ts'
import { hasExtras } from './find-extras.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kith-extras-'))
})
afterAll(() => rm(folder, { recursive: true }))

async function isTold(format: string, bytes: Uint8Array): Promise<boolean> {
  const path = join(folder, 'picture')
  await writeFile(path, bytes)
  return await hasExtras(path, format)
}

const plain = sharp({ create: { width: 300, height: 200, channels: 3, background: '#c04080' } })
const committed = (name: string) => readFile(join(pictures, name))
const jpeg = () => plain.clone().jpeg().toBuffer()
const progressive = () => plain.clone().jpeg({ progressive: true }).toBuffer()
const png = () => plain.clone().png().toBuffer()
const gif = () => plain.clone().gif().toBuffer()
const webp = () => plain.clone().webp().toBuffer()

describe('A picture and nothing else', () => {
  test.each([
    ['jpeg', jpeg],
    ['jpeg', progressive],
    ['jpeg', () => committed('wide-gamut.jpg')],
    ['png', png],
    ['png', () => plain.clone().png({ palette: true }).withIccProfile('srgb').toBuffer()],
    ['gif', gif],
    ['gif', () => committed('animated.gif')],
    ['webp', webp],
    ['webp', () => committed('still.webp')],
    ['webp', () => committed('animated.webp')],
    ['avif', () => committed('still.avif')],
    ['avif', () => plain.clone().ensureAlpha(0.5).avif().toBuffer()],
  ])('%s', async (format, bytes) => {
    expect(await isTold(format, await bytes())).toBe(false)
  })
})

describe('A picture with', () => {
  test.each(markedPictures)('$place, $format', async ({ format, make }) => {
    expect(await isTold(format, await make([300, 200]))).toBe(true)
  })

  test('no end, jpeg', async () => {
    expect(await isTold('jpeg', (await jpeg()).subarray(0, -2))).toBe(true)
  })
})

describe('An AVIF file', () => {
  const text = (hex: string) => Buffer.from(hex.replaceAll(' ', ''), 'hex').toString('latin1')
  function box(type: string, ...parts: string[]): string {
    const content = parts.join('')
    const head = Buffer.alloc(4)
    head.writeUInt32BE(8 + content.length)
    return head.toString('latin1') + type + content
  }

  const item = (id: string, type = 'av01', name = '\0') =>
    box('infe', text(`02000000 ${id} 0000`), type, name)
  const alpha = box('auxC', text('00000000'), 'urn:mpeg:mpegB:cicp:systems:auxiliary:alpha\0')
  interface Parts {
    handler?: string
    items?: string[]
    references?: string
    properties?: string
    inMeta?: string
    /** The list of places, without the first of its numbers: where the pixels begin. */
    placed?: (pixelsAt: string) => string
    data?: string
  }
  const placedAt = (pixelsAt: string) => text(`00000000 44000001 0001 0000 0001 ${pixelsAt} 00000006`)
  /** A file whose pixels are six bytes, and which nothing could decode. */
  function avif({
    handler,
    items = [item('0001')],
    references,
    properties,
    inMeta,
    placed,
    data,
  }: Parts = {}): Buffer {
    const count = Buffer.from([0, items.length]).toString('latin1')
    const start = (pixelsAt: string) =>
      box('ftyp', 'avif') +
      box(
        'meta',
        text('00000000'),
        box('hdlr', text('00000000 00000000'), 'pict', text('00000000 00000000 00000000'), handler ?? '\0'),
        box('pitm', text('00000000 0001')),
        box('iloc', (placed ?? placedAt)(pixelsAt)),
        box('iinf', text('00000000'), count, ...items),
        box(
          'iprp',
          box('ipco', box('ispe', 'of a picture'), properties ?? ''),
          box('ipma', text('00000000 00000000')),
        ),
        references === undefined ? '' : box('iref', text('00000000'), references),
        inMeta ?? '',
      )
    const pixelsAt = (start('00000000').length + 8).toString(16).padStart(8, '0')
    return Buffer.from(start(pixelsAt) + (data ?? box('mdat', 'pixels')), 'latin1')
  }
  const tile = (id: string, at: string) => `${id} 0000 0001 ${at} 00000006 `

  test.each<[string, Parts]>([
    ['of a picture', {}],
    ['of names that libraries write', { handler: 'libavif\0', items: [item('0001', 'av01', 'Color\0')] }],
    [
      'of a place for other files that names none',
      { inMeta: box('dinf', box('dref', text('00000000 00000001'), box('url ', text('00000001')))) },
    ],
    [
      'of tiles that are alike, in the order of the description',
      {
        items: [item('0001', 'grid'), item('0002'), item('0003')],
        references: box('dimg', text('0001 0002 0002 0003')),
        inMeta: box('idat', 'grid'),
        placed: (at) =>
          text(
            `01000000 44000003 0001 0001 0000 0001 00000000 00000004 0002 0000 0000 0001 ${at} 00000006 0003 0000 0000 0001 ${at} 00000006`,
          ),
      },
    ],
    [
      'of a picture and its transparency',
      {
        items: [item('0001'), item('0002', 'av01', 'Alpha\0')],
        references: box('auxl', text('0002 0001 0001')) + box('prem', text('0001 0001 0002')),
        properties: alpha,
        placed: (at) => text(`00000000 44000002 ${tile('0001', at)} ${tile('0002', at)}`),
      },
    ],
    [
      'of long numbers',
      {
        placed: (at) =>
          text(`02000000 88 00 00000001 00000001 0000 0000 0001 00000000${at} 0000000000000006`),
      },
    ],
    [
      'of numbers that count from another',
      { placed: (at) => text(`00000000 44400001 0001 0000 ${at} 0001 00000000 00000006`) },
    ],
  ])('%s is nothing else', async (_, parts) => {
    expect(await isTold('avif', avif(parts))).toBe(false)
  })

  const two = { items: [item('0001'), item('0002')] }
  test.each<[string, Parts]>([
    ['a name of its handler', { handler: 'my phone\0' }],
    ['more behind that name', { handler: '\0more' }],
    ['a name of a picture', { items: [item('0001', 'av01', 'my garden\0')] }],
    ['an item that is no picture', { items: [item('0001'), item('0002', 'Exif')] }],
    ['an item of an old form', { items: [box('infe', text('00000000 0001 0000'), 'av01', '\0')] }],
    ['a second picture', two],
    ['a thumbnail', { ...two, references: box('thmb', text('0002 0001 0001')) }],
    ['a picture that has the first as its part', { ...two, references: box('dimg', text('0002 0001 0001')) }],
    ['the transparency of a second picture', { ...two, references: box('auxl', text('0002 0001 0003')) }],
    ['a depth map', { properties: alpha.replace('alpha', 'depth') }],
    ['no first picture', { items: [item('0003')] }],
    ['a description', { properties: box('udes', 'my garden') }],
    ['a property that is longer than it is', { properties: box('irot', '\0my garden') }],
    [
      'the address of another file',
      {
        inMeta: box(
          'dinf',
          box('dref', text('00000000 00000001'), box('url ', text('00000000'), 'my garden\0')),
        ),
      },
    ],
    ['free space in its description', { inMeta: box('free', 'my garden') }],
    ['bytes of its description that have no place', { inMeta: box('idat', 'my garden') }],
    ['bytes behind those of the picture', { data: box('mdat', 'pixels and more') }],
    ['bytes in another place', { placed: () => placedAt('00000000') }],
    ['places that are cut short', { placed: (at) => text(`00000000 44000001 0001 0000 0001 ${at}`) }],
    ['more behind its places', { placed: (at) => `${placedAt(at)}my garden` }],
    [
      'places without numbers',
      { placed: () => text('00000000 0000 2000') + text('0001 0000 ffff').repeat(8192) },
    ],
    ['two lists of places', { inMeta: box('iloc', text('00000000 44000000')) }],
    ['no list of places', { placed: () => '' }],
    ['two descriptions', { data: box('mdat', 'pixels') + box('meta', text('00000000')) }],
    ['a box that is longer than the file', { data: `\0\0\xff\xffmdatpixels` }],
  ])('with %s is told', async (_, parts) => {
    expect(await isTold('avif', avif(parts))).toBe(true)
  })
})

test('whatever is cut off is read to its end', async () => {
  for (const [format, bytes] of [
    ['jpeg', await jpeg()],
    ['png', await png()],
    ['gif', await committed('animated.gif')],
    ['webp', await committed('animated.webp')],
    ['avif', await committed('still.avif')],
  ] as const)
    for (let length = 0; length < bytes.length; length += 97)
      expect(await isTold(format, bytes.subarray(0, length))).toBe(true)
})
