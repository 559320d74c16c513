import { crc32, deflateSync } from 'node:zlib'
import sharp from 'sharp'

/** Stands in each of the pictures, as no pixel does. */
export const mark = 'MARK said where'

type Size = readonly [width: number, height: number]

interface MarkedPicture {
  readonly place: string
  readonly format: 'jpeg' | 'png' | 'gif' | 'webp' | 'avif'
  make(size: Size): Promise<Buffer>
}

const plain = ([width, height]: Size) =>
  sharp({ create: { width, height, channels: 3, background: '#c04080' } })

const inserted = (bytes: Buffer, at: number, more: Buffer) =>
  Buffer.concat([bytes.subarray(0, at), more, bytes.subarray(at)])

function segment(marker: number, text: string): Buffer {
  const head = Buffer.from([0xff, marker, 0, 0])
  head.writeUInt16BE(text.length + 2, 2)
  return Buffer.concat([head, Buffer.from(text, 'latin1')])
}

function chunk(name: string, content: Buffer | string): Buffer {
  const body = Buffer.concat([
    Buffer.from(name),
    typeof content === 'string' ? Buffer.from(content, 'latin1') : content,
  ])
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(body.length - 4)
  check.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, check])
}

function block(text: string): Buffer {
  return Buffer.concat([Buffer.from([text.length]), Buffer.from(text, 'latin1')])
}

function box(type: string, content: string): Buffer {
  const head = Buffer.alloc(4)
  head.writeUInt32BE(8 + content.length)
  return Buffer.concat([head, Buffer.from(type + content, 'latin1')])
}

/** A WebP of these chunks. */
function riff(chunks: readonly Buffer[]): Buffer {
  const body = Buffer.concat([Buffer.from('WEBP'), ...chunks])
  const head = Buffer.from('RIFF\0\0\0\0', 'latin1')
  head.writeUInt32LE(body.length, 4)
  return Buffer.concat([head, body])
}

function riffChunk(name: string, content: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32LE(content.length)
  return Buffer.concat([Buffer.from(name), length, content, Buffer.alloc(content.length % 2)])
}

const exif = { IFD0: { ImageDescription: mark } }
const film = `${'\0\0\0\x18ftypmp42'}${mark}`
const xmp = `<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">${mark}</rdf:RDF></x:xmpmeta>`

function jpegs(): MarkedPicture[] {
  const jpeg = (size: Size) => plain(size).jpeg().toBuffer()
  const withSegment = (place: string, marker: number, text: string): MarkedPicture => ({
    place,
    format: 'jpeg',
    make: async (size) => inserted(await jpeg(size), 2, segment(marker, text)),
  })
  return [
    withSegment('a comment', 0xfe, mark),
    withSegment('a thumbnail of JFIF', 0xe0, `JFXX\0\x10${mark}`),
    withSegment('XMP', 0xe1, `http://ns.adobe.com/xap/1.0/\0${xmp}`),
    withSegment('a second picture (MPF)', 0xe2, `MPF\0${mark}`),
    withSegment('APP4', 0xe4, mark),
    withSegment('APP12', 0xec, `Ducky\0${mark}`),
    withSegment('IPTC', 0xed, `Photoshop 3.0\0${mark}`),
    withSegment('APP15', 0xef, mark),
    { place: 'EXIF', format: 'jpeg', make: (size) => plain(size).withExif(exif).jpeg().toBuffer() },
    {
      place: 'a comment between two scans',
      format: 'jpeg',
      async make(size) {
        const bytes = await plain(size).jpeg({ progressive: true }).toBuffer()
        return inserted(bytes, bytes.lastIndexOf(Buffer.from([0xff, 0xda])), segment(0xfe, mark))
      },
    },
    {
      place: 'the film of a motion photo',
      format: 'jpeg',
      make: async (size) => Buffer.concat([await jpeg(size), Buffer.from(film, 'latin1')]),
    },
  ]
}

const afterHeader = 33

function pngs(): MarkedPicture[] {
  const png = (size: Size) => plain(size).png().toBuffer()
  const withChunk = (place: string, name: string, content: Buffer | string): MarkedPicture => ({
    place,
    format: 'png',
    make: async (size) => inserted(await png(size), afterHeader, chunk(name, content)),
  })
  const packed = deflateSync(mark)
  return [
    withChunk('text', 'tEXt', `Comment\0${mark}`),
    withChunk('text in Unicode', 'iTXt', `Comment\0\0\0\0\0${mark}`),
    withChunk('compressed text', 'zTXt', Buffer.concat([Buffer.from(`${mark}\0\0`), packed])),
    withChunk('the name of a palette', 'sPLT', `${mark}\0\x08`),
    withChunk('a chunk of a program', 'prVt', mark),
    withChunk('a chunk that is longer than it is', 'gAMA', `\0\0\xb1\x8f${mark}`),
    { place: 'EXIF', format: 'png', make: (size) => plain(size).withExif(exif).png().toBuffer() },
    {
      place: 'a chunk behind the pixels',
      format: 'png',
      async make(size) {
        const bytes = await png(size)
        return inserted(bytes, bytes.length - 12, chunk('prVt', mark))
      },
    },
    {
      place: 'the end',
      format: 'png',
      make: async (size) => Buffer.concat([(await png(size)).subarray(0, -12), chunk('IEND', mark)]),
    },
    {
      place: 'what follows the end',
      format: 'png',
      make: async (size) => Buffer.concat([await png(size), Buffer.from(mark)]),
    },
  ]
}

function gifs(): MarkedPicture[] {
  const gif = (size: Size) => plain(size).gif().toBuffer()
  const withExtension = (place: string, label: number, blocks: readonly string[]): MarkedPicture => ({
    place,
    format: 'gif',
    async make(size) {
      const bytes = await gif(size)
      const extension = [Buffer.from([0x21, label]), ...blocks.map(block), Buffer.from([0])]
      return inserted(bytes, bytes.length - 1, Buffer.concat(extension))
    },
  })
  return [
    withExtension('a comment', 0xfe, [mark]),
    withExtension('XMP', 0xff, ['XMP DataXMP', xmp.slice(0, 200)]),
    withExtension('an extension of a program', 0xff, ['KITHTEST1.0', mark]),
    withExtension('more blocks of a loop', 0xff, ['NETSCAPE2.0', '\x01\0\0', mark]),
    withExtension('more blocks of a frame', 0xf9, ['\0\0\0\0', mark]),
    {
      place: 'what follows the end',
      format: 'gif',
      make: async (size) => Buffer.concat([await gif(size), Buffer.from(mark)]),
    },
  ]
}

function webps(): MarkedPicture[] {
  const webp = async (size: Size) => (await plain(size).webp().toBuffer()).subarray(12)
  const note = riffChunk('NOTE', Buffer.from(mark))
  return [
    { place: 'EXIF', format: 'webp', make: (size) => plain(size).withExif(exif).webp().toBuffer() },
    {
      place: 'XMP',
      format: 'webp',
      make: async (size) => riff([await webp(size), riffChunk('XMP ', Buffer.from(xmp))]),
    },
    { place: 'a chunk of a program', format: 'webp', make: async (size) => riff([await webp(size), note]) },
    {
      place: 'a chunk of a frame',
      format: 'webp',
      async make([width, height]) {
        const about = Buffer.alloc(16)
        about.writeUIntLE(width - 1, 6, 3)
        about.writeUIntLE(height - 1, 9, 3)
        const screen = Buffer.alloc(10)
        screen[0] = 2
        screen.writeUIntLE(width - 1, 4, 3)
        screen.writeUIntLE(height - 1, 7, 3)
        const frame = riffChunk('ANMF', Buffer.concat([about, await webp([width, height]), note]))
        return riff([riffChunk('VP8X', screen), riffChunk('ANIM', Buffer.alloc(6)), frame])
      },
    },
    {
      place: 'what follows the end',
      format: 'webp',
      make: async (size) => Buffer.concat([riff([await webp(size)]), Buffer.from(mark)]),
    },
  ]
}

function avifs(): MarkedPicture[] {
  const avif = (size: Size) => plain(size).avif().toBuffer()
  const followedBy = (place: string, more: Buffer): MarkedPicture => ({
    place,
    format: 'avif',
    make: async (size) => Buffer.concat([await avif(size), more]),
  })
  return [
    { place: 'EXIF', format: 'avif', make: (size) => plain(size).withExif(exif).avif().toBuffer() },
    followedBy('free space', box('free', mark)),
    followedBy('a box of a program', box('uuid', `0123456789abcdef${mark}`)),
    followedBy('bytes that are no part of the picture', box('mdat', mark)),
    followedBy('what follows the end', Buffer.from(mark)),
  ]
}

/** Pictures of a size that hold a text in each place where one can be. */
export const markedPictures: readonly MarkedPicture[] = [
  ...jpegs(),
  ...pngs(),
  ...gifs(),
  ...webps(),
  ...avifs(),
]
