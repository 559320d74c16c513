import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { pictures } from '#harness/image-desk.ts'
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

const inserted = (bytes: Buffer, at: number, more: Buffer) =>
  Buffer.concat([bytes.subarray(0, at), more, bytes.subarray(at)])
const behind = (bytes: Buffer) => Buffer.concat([bytes, Buffer.from('ftypmp42')])

function segment(marker: number, text: string): Buffer {
  const head = Buffer.from([0xff, marker, 0, 0])
  head.writeUInt16BE(text.length + 2, 2)
  return Buffer.concat([head, Buffer.from(text, 'latin1')])
}

function chunk(name: string, text: string): Buffer {
  const body = Buffer.from(`${name}${text}`, 'latin1')
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(text.length)
  check.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, check])
}

const beforeLastScan = (bytes: Buffer) => bytes.lastIndexOf(Buffer.from([0xff, 0xda]))
const gifComment = Buffer.from('21fe0568656c6c6f00', 'hex')
const riffChunk = (name: string) => Buffer.from(`${name}\x04\0\0\0text`, 'latin1')

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
  ])('%s', async (format, bytes) => {
    expect(await isTold(format, await bytes())).toBe(false)
  })
})

describe('A picture with', () => {
  test.each<[string, string, () => Promise<Buffer>]>([
    ['a comment', 'jpeg', async () => inserted(await jpeg(), 2, segment(0xfe, 'hello'))],
    [
      'a comment between two scans',
      'jpeg',
      async () => {
        const bytes = await progressive()
        return inserted(bytes, beforeLastScan(bytes), segment(0xfe, 'hello'))
      },
    ],
    ['a note of a program', 'jpeg', async () => inserted(await jpeg(), 2, segment(0xec, 'Ducky'))],
    ['a preview in JFIF', 'jpeg', async () => inserted(await jpeg(), 2, segment(0xe0, 'JFXX\0\x10abc'))],
    ['more behind its end', 'jpeg', async () => behind(await jpeg())],
    ['no end', 'jpeg', async () => (await jpeg()).subarray(0, -2)],
    ['text', 'png', async () => inserted(await png(), 33, chunk('tEXt', 'Comment\0hello'))],
    ['a time', 'png', async () => inserted(await png(), 33, chunk('tIME', 'abcdefg'))],
    ['a chunk of a program', 'png', async () => inserted(await png(), 33, chunk('prVt', 'hello'))],
    ['more behind its end', 'png', async () => behind(await png())],
    [
      'a comment',
      'gif',
      async () => {
        const bytes = await gif()
        return inserted(bytes, bytes.length - 1, gifComment)
      },
    ],
    ['more behind its end', 'gif', async () => behind(await gif())],
    [
      'a chunk of a program',
      'webp',
      async () => {
        const bytes = behind(await webp()).subarray(0, -8)
        const more = riffChunk('NOTE')
        bytes.writeUInt32LE(bytes.length - 8 + more.length, 4)
        return Buffer.concat([bytes, more])
      },
    ],
    ['more behind its end', 'webp', async () => behind(await webp())],
  ])('%s, %s', async (_, format, bytes) => {
    expect(await isTold(format, await bytes())).toBe(true)
  })
})

test('whatever is cut off is read to its end', async () => {
  for (const [format, bytes] of [
    ['jpeg', await jpeg()],
    ['png', await png()],
    ['gif', await committed('animated.gif')],
    ['webp', await committed('animated.webp')],
  ] as const)
    for (let length = 0; length < bytes.length; length += 97)
      expect(await isTold(format, bytes.subarray(0, length))).toBe(true)
})
