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

  const pixels = box('mdat', 'pixels')
  interface Parts {
    handler?: string
    item?: string
    properties?: string
    inMeta?: string
    placed?: string
    data?: string
  }
  /** As long as its name says, and nothing that could be decoded. */
  function avif({ handler, item, properties, inMeta, placed, data }: Parts = {}): Buffer {
    const meta = box(
      'meta',
      text('00000000'),
      box('hdlr', text('00000000 00000000'), 'pict', text('00000000 00000000 00000000'), handler ?? '\0'),
      box('pitm', text('00000000 0001')),
      placed ?? box('iloc', text('00000000 44000001 0001 0000 0001 00000100 00000006')),
      box('iinf', text('00000000 0001'), item ?? box('infe', text('02000000 0001 0000'), 'av01', '\0')),
      box('iprp', box('ipco', box('ispe', 'size'), properties ?? ''), box('ipma', text('00000000 00000000'))),
      inMeta ?? '',
    )
    return Buffer.from(box('ftyp', 'avif') + meta + (data ?? pixels), 'latin1')
  }

  test.each<[string, Parts]>([
    ['of a picture', {}],
    [
      'of names that libraries write',
      { handler: 'libavif\0', item: box('infe', text('02000000 0001 0000'), 'av01', 'Color\0') },
    ],
    [
      'of tiles in the description',
      {
        inMeta: box('idat', 'grid'),
        placed: box(
          'iloc',
          text(
            '01000000 44000002 0001 0001 0000 0001 00000000 00000004 0002 0000 0000 0001 00000100 00000006',
          ),
        ),
      },
    ],
    [
      'of long numbers',
      {
        placed: box(
          'iloc',
          text('02000000 88 00 00000001 00000001 0000 0000 0001 0000000000000100 0000000000000006'),
        ),
      },
    ],
  ])('%s is nothing else', async (_, parts) => {
    expect(await isTold('avif', avif(parts))).toBe(false)
  })

  test.each<[string, Parts]>([
    ['a name of its handler', { handler: 'my phone\0' }],
    ['more behind that name', { handler: '\0more' }],
    ['a name of a picture', { item: box('infe', text('02000000 0001 0000'), 'av01', 'my garden\0') }],
    ['an item that is no picture', { item: box('infe', text('02000000 0001 0000'), 'Exif', '\0') }],
    ['an item of an old form', { item: box('infe', text('00000000 0001 0000'), 'av01', '\0') }],
    ['a description', { properties: box('udes', 'my garden') }],
    ['free space in its description', { inMeta: box('free', 'my garden') }],
    ['bytes that have no place', { data: box('mdat', 'pixels and more') }],
    ['places that are cut short', { placed: box('iloc', text('00000000 44000001 0001 0000 0001 00000100')) }],
    ['two lists of places', { inMeta: box('iloc', text('00000000 44000000')) }],
    ['no list of places', { placed: '' }],
    ['two descriptions', { data: pixels + box('meta', text('00000000')) }],
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
