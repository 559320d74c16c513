import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { MIMEType } from 'node:util'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sniffType, typeWithoutBytes } from './sniff-type.ts'

const pictures = join(import.meta.dirname, '../../../test/fixtures/images')
const picture = async (name: string) => (await readFile(join(pictures, name))).subarray(0, 4100)
const latin = (text: string) => Buffer.from(text, 'latin1')
const padded = (start: Buffer, length = 600) => Buffer.concat([start, Buffer.alloc(length)])

const zip = padded(Buffer.from('504b030414000000000000000000000000000000000000000000010000006178', 'hex'))
const pdf = latin('%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n')
const html = latin('<!doctype html><script>alert(1)</script>')
const svg = latin('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>')
const xml = latin('<?xml version="1.0"?><x:script xmlns:x="http://www.w3.org/1999/xhtml">alert(1)</x:script>')
const box = (...brands: string[]) =>
  padded(Buffer.concat([Buffer.from([0, 0, 0, 8 + brands.length * 4]), latin(`ftyp${brands.join('')}`)]))
const tiff = padded(Buffer.from('49492a0008000000000000000000', 'hex'))
const webm = padded(
  Buffer.from('1a45dfa39f4286810142f7810142f2810442f381084282847765626d4287810242858102', 'hex'),
)

const typeOf = async (bytes: Uint8Array, declared?: string) => (await sniffType(bytes, declared)).contentType
const isContradicted = async (bytes: Uint8Array, declared: string) =>
  (await sniffType(bytes, declared)).contradictsDeclared

describe('The stored type', () => {
  test.each([
    ['photo.jpg', 'image/jpeg'],
    ['transparent.png', 'image/png'],
    ['still.webp', 'image/webp'],
    ['animated.webp', 'image/webp'],
    ['still.avif', 'image/avif'],
    ['animated.gif', 'image/gif'],
  ])('of %s is %s, whatever is declared', async (name, expected) => {
    const bytes = await picture(name)
    for (const declared of [
      undefined,
      expected,
      'application/octet-stream',
      'text/html',
      'text/plain',
      'nonsense',
    ])
      expect(await sniffType(bytes, declared)).toEqual({ contentType: expected, contradictsDeclared: false })
  })

  test.each([
    ['text/plain', 'text/plain'],
    ['text/plain; charset=UTF-8', 'text/plain; charset=utf-8'],
    ['Text/CSV;header=present', 'text/csv'],
    ['application/json; charset=utf-8', 'application/json'],
    ['text/markdown ; charset="utf-8"', 'text/markdown; charset=utf-8'],
    ['text/plain; charset="a\\r b"', 'text/plain'],
    ['text/html', 'text/html'],
    ['application/x-unheard-of', 'application/x-unheard-of'],
  ])('of text declared %j is %j', async (declared, expected) => {
    expect(await typeOf(latin('some words'), declared)).toBe(expected)
  })

  test.each([
    undefined,
    '',
    'text',
    'image/jpeg x',
    'image/jpeg, text/html',
    'text / html',
    'text/html\r\nSet-Cookie: a=b',
    '*/*',
    'image/*',
    'multipart/related; boundary=x',
    'application/x-www-form-urlencoded',
    `text/${'x'.repeat(200)}`,
  ])('is unknown when nothing useful is declared: %j', async (declared) => {
    expect(await typeOf(latin('some words'), declared)).toBe('application/octet-stream')
  })

  test('of words that begin like a format is text', async () => {
    for (const text of ['BMW is a car', 'MZ: who was it?', 'ID3 tags explained', 'GIF89a is a year', 'PK\n'])
      expect(await typeOf(latin(text), 'text/plain')).toBe('text/plain')
  })

  test('of nothing at all is what is declared', async () => {
    expect(await typeOf(Buffer.alloc(0), 'text/plain')).toBe('text/plain')
    expect(await typeOf(Buffer.alloc(0))).toBe('application/octet-stream')
  })

  test.each([
    ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', zip],
    ['application/epub+zip', zip],
    ['application/x-gzip', gzipSync('x')],
    ['audio/webm', webm],
    ['image/x-adobe-dng', tiff],
  ])('is the declared %s where the bytes only show its container', async (declared, bytes) => {
    expect(await sniffType(bytes, `${declared}; x=y`)).toEqual({
      contentType: declared,
      contradictsDeclared: false,
    })
  })

  test('of AVIF is AVIF also when the general brand comes first', async () => {
    expect(await typeOf(box('mif1', '\0\0\0\0', 'miaf', 'avif'))).toBe('image/avif')
    expect(await typeOf(box('mif1', '\0\0\0\0', 'heic'))).toBe('image/heif')
    expect(await typeOf(box('heic', '\0\0\0\0', 'mif1'))).toBe('image/heic')
  })
})

describe('The type of what has no bytes', () => {
  test.each([
    ['image/png', 'image/png'],
    ['Text/Plain; charset=UTF-8; x=y', 'text/plain; charset=utf-8'],
    ['text/html\r\nx: y', 'application/octet-stream'],
    [undefined, 'application/octet-stream'],
  ])('that is declared %j is %j', (declared, expected) => {
    expect(typeWithoutBytes(declared)).toBe(expected)
  })
})

describe('Nothing active is found in bytes', () => {
  test.each([
    ['HTML', html],
    ['SVG', svg],
    ['XML that becomes XHTML', xml],
    ['XML in UTF-16', Buffer.concat([Buffer.from('fffe', 'hex'), Buffer.from(xml.toString(), 'utf16le')])],
    ['a script', latin('#!/usr/bin/env node\nalert(1)')],
    ['a calendar', latin('BEGIN:VCALENDAR\r\nVERSION:2.0')],
    ['a web archive', latin('MIME-Version: 1.0\r\nContent-Type: multipart/related; boundary=x\r\n')],
    ['Flash', padded(latin('CWS\x0a'))],
  ])('%s', async (_, bytes) => {
    expect(await typeOf(bytes)).toBe('application/octet-stream')
    expect(await typeOf(bytes, 'text/plain')).toBe('text/plain')
    expect(await typeOf(bytes, 'multipart/related')).toBe('application/octet-stream')
  })

  test('whatever the bytes are', async () => {
    const start = fc.constantFrom(html, svg, xml, zip, pdf, tiff, webm, Buffer.alloc(0))
    await fc.assert(
      fc.asyncProperty(start, fc.uint8Array({ maxLength: 300 }), async (first, rest) => {
        const type = await typeOf(Buffer.concat([first, rest]))
        expect(type).not.toMatch(/^text|html|xml|script/)
        expect(new MIMEType(type).essence).toBe(type)
      }),
    )
  })

  test('and whatever is declared is fit for a header', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ maxLength: 60 }), fc.string({ maxLength: 20 }), async (type, charset) => {
        for (const declared of [
          type,
          `text/${type}`,
          `text/plain; charset=${charset}`,
          `text/plain; charset="${charset}"`,
        ])
          expect(await typeOf(latin('words'), declared)).toMatch(/^[!-~]+(; charset=[a-z0-9._-]+)?$/)
      }),
    )
  })
})

describe('A polyglot is stored as what its first bytes are, which no browser runs', () => {
  test.each([
    [
      'a GIF that is a script',
      padded(latin('GIF89a\x2f\x2a\0\0*/=1;alert(1)//'), 0),
      'text/javascript',
      'image/gif',
    ],
    [
      'a JPEG that is a page',
      padded(Buffer.concat([Buffer.from('ffd8ffe000104a464946000101', 'hex'), html])),
      'text/html',
      'image/jpeg',
    ],
    [
      'a PNG that is a page',
      padded(Buffer.concat([Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'), Buffer.alloc(17), html])),
      'text/html',
      'image/png',
    ],
    ['a PDF that is a page', Buffer.concat([pdf, html]), 'text/html', 'application/pdf'],
    ['a zip that is called a page', zip, 'text/html', 'application/zip'],
    ['a zip that is called SVG', zip, 'image/svg+xml', 'application/zip'],
  ])('%s', async (_, bytes, declared, expected) => {
    expect(await typeOf(bytes, declared)).toBe(expected)
  })
})

describe('A declared picture is contradicted by', () => {
  test.each([
    ['text', latin('not a picture'), 'image/jpeg'],
    ['nothing', Buffer.alloc(0), 'image/png'],
    ['a page', html, 'image/gif'],
    ['SVG', svg, 'image/png'],
    ['text that begins like it', latin('BM is no bitmap'), 'image/bmp'],
    ['a zip', zip, 'image/webp'],
    ['a PDF', pdf, 'image/jpeg'],
    ['noise', Buffer.from('0102030405', 'hex'), 'image/avif'],
    ['noise, for SVG', Buffer.from('0102030405', 'hex'), 'image/svg+xml'],
    ['a zip, for a format of a camera', zip, 'image/x-canon-cr2'],
  ])('%s', async (_, bytes, declared) => {
    expect(await isContradicted(bytes, declared)).toBe(true)
    expect(await isContradicted(bytes, `${declared.toUpperCase()} ; name="a.jpg"`)).toBe(true)
  })
})

describe('A declared picture is not contradicted by', () => {
  test('another picture, which is stored as what it is', async () => {
    for (const [name, contentType] of [
      ['photo.jpg', 'image/jpeg'],
      ['still.webp', 'image/webp'],
      ['animated.gif', 'image/gif'],
    ] as const) {
      const bytes = await picture(name)
      for (const declared of ['image/png', 'image/jpeg', 'image/svg+xml', 'image/x-unheard-of', 'image/avif'])
        expect(await sniffType(bytes, declared)).toEqual({ contentType, contradictsDeclared: false })
    }
    expect(await sniffType(tiff, 'image/png')).toEqual({
      contentType: 'image/tiff',
      contradictsDeclared: false,
    })
  })

  test.each(['49492a0008f91500', '4d4d002a0015f908', '49492b00080000000000', '4d4d002b00080000'])(
    'TIFF whose directory is behind its pixels: %s',
    async (start) => {
      const bytes = padded(Buffer.from(start, 'hex'), 4000).fill(0xee, 16)
      for (const declared of ['image/tiff', 'image/tif', undefined])
        expect(await sniffType(bytes, declared)).toEqual({
          contentType: 'image/tiff',
          contradictsDeclared: false,
        })
      expect(await typeOf(bytes, 'image/x-adobe-dng')).toBe('image/x-adobe-dng')
    },
  )

  test('another name of the same format', async () => {
    for (const [name, declared] of [
      ['photo.jpg', 'image/jpg'],
      ['photo.jpg', 'image/pjpeg'],
      ['transparent.png', 'image/x-png'],
      ['transparent.png', 'image/apng'],
      ['still.avif', 'image/heif'],
    ] as const)
      expect(await isContradicted(await picture(name), declared)).toBe(false)
  })

  test('bytes that cannot prove it wrong', async () => {
    expect(await sniffType(svg, 'image/svg+xml')).toEqual({
      contentType: 'image/svg+xml',
      contradictsDeclared: false,
    })
    expect(await isContradicted(latin('P3 1 1 255'), 'image/x-portable-pixmap')).toBe(false)
  })
})

test('Only pictures are compared: another declared type simply gives way to the bytes', async () => {
  expect(await sniffType(pdf, 'video/mp4')).toEqual({
    contentType: 'application/pdf',
    contradictsDeclared: false,
  })
})
