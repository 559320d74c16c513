import { hasAvifExtras } from './find-avif-extras.ts'
import { PictureFile } from './picture-file.ts'

/** Does a file hold more than its picture and what is needed to show it: comments, text, what programs add, anything behind
 * its end? What cannot be told counts as more. */
export async function hasExtras(path: string, format: string): Promise<boolean> {
  const find = finders[format]
  await using file = find && (await PictureFile.open(path))
  if (!find || !file) return false
  return await find(file)
}

const finders: Readonly<Record<string, (file: PictureFile) => Promise<boolean>>> = {
  jpeg: hasJpegExtras,
  png: hasPngExtras,
  gif: hasGifExtras,
  webp: hasWebpExtras,
  avif: hasAvifExtras,
}

// Frames, tables and scans (ISO/IEC 10918-1, table B.1).
const jpegMarkers = new Set([
  ...[0xc0, 0xc1, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7, 0xc9, 0xca, 0xcb, 0xcc, 0xcd, 0xce, 0xcf],
  ...[0xda, 0xdb, 0xdc, 0xdd],
])

async function hasJpegExtras(file: PictureFile): Promise<boolean> {
  let at = 2
  for (;;) {
    const head = await file.read(at, 20)
    const marker = head[1]
    if (head.length < 2 || head[0] !== 0xff || marker === undefined) return true
    if (marker === 0xd9) return at + 2 < file.size
    if (marker === 0xff) {
      at += 1
      continue
    }
    if (head.length < 4 || !(jpegMarkers.has(marker) || isPlainJpegSegment(marker, head))) return true
    at += 2 + head.readUInt16BE(2)
    if (marker === 0xda) at = await endOfScan(file, at)
  }
}

/** JFIF without a thumbnail, Adobe's note on colours, and colour profiles. */
function isPlainJpegSegment(marker: number, head: Buffer): boolean {
  const length = head.readUInt16BE(2)
  const name = head.toString('latin1', 4, 16)
  if (marker === 0xe0) return name.startsWith('JFIF\0') && length === 16
  if (marker === 0xee) return name.startsWith('Adobe') && length === 14
  return marker === 0xe2 && name.startsWith('ICC_PROFILE\0')
}

/** The first marker behind a scan that does not belong to it. */
async function endOfScan(file: PictureFile, start: number): Promise<number> {
  let at = start
  while (at < file.size) {
    const piece = await file.read(at, 32 * 1024)
    const found = markerIn(piece)
    if (found !== undefined) return at + found
    at += Math.max(1, piece.length - 1)
  }
  return at
}

function markerIn(piece: Buffer): number | undefined {
  for (let at = piece.indexOf(0xff); at >= 0 && at + 1 < piece.length; at = piece.indexOf(0xff, at + 1)) {
    const next = piece[at + 1] ?? 0
    const isOfScan = next === 0 || next === 0xff || (next >= 0xd0 && next <= 0xd7)
    if (!isOfScan) return at
  }
  return undefined
}

// Chunks that hold the pixels or tell how to show their colours (W3C PNG, chapter 11), with the most bytes of each.
const pngChunks: ReadonlyMap<string, number> = new Map(
  Object.entries({
    IHDR: 13,
    PLTE: 768,
    IDAT: Number.POSITIVE_INFINITY,
    tRNS: 256,
    cHRM: 32,
    gAMA: 4,
    iCCP: Number.POSITIVE_INFINITY,
    sBIT: 4,
    sRGB: 1,
    cICP: 4,
    mDCV: 24,
    cLLI: 8,
    bKGD: 6,
    pHYs: 9,
    acTL: 8,
    fcTL: 26,
    fdAT: Number.POSITIVE_INFINITY,
  }),
)

async function hasPngExtras(file: PictureFile): Promise<boolean> {
  let at = 8
  for (;;) {
    const head = await file.read(at, 8)
    if (head.length < 8) return true
    const name = head.toString('latin1', 4, 8)
    const length = head.readUInt32BE(0)
    at += 12 + length
    if (name === 'IEND') return length > 0 || at !== file.size
    if (length > (pngChunks.get(name) ?? -1)) return true
  }
}

const gifLoops = new Set(['NETSCAPE2.0', 'ANIMEXTS1.0'])

async function hasGifExtras(file: PictureFile): Promise<boolean> {
  const screen = await file.read(0, 13)
  if (screen.length < 13) return true
  let at = 13 + colourTableBytes(screen[10])
  for (;;) {
    const head = await file.read(at, 19)
    if (head[0] === 0x3b) return at + 1 < file.size
    const control = controlBytes(head)
    if (head[0] === 0x2c && head.length > 9) at = await endOfBlocks(file, at + 11 + colourTableBytes(head[9]))
    else if (control > 0) at += control
    else return true
  }
}

function colourTableBytes(flags = 0): number {
  return flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0
}

/** The length of an extension that tells how a frame is shown, or how often all of them; 0 of any other. */
function controlBytes(head: Buffer): number {
  const [start, label, length] = head
  if (start !== 0x21) return 0
  if (label === 0xf9) return length === 4 && head[7] === 0 ? 8 : 0
  const isLoop = label === 0xff && gifLoops.has(head.toString('latin1', 3, 14))
  return isLoop && length === 11 && head[14] === 3 && head[18] === 0 ? 19 : 0
}

async function endOfBlocks(file: PictureFile, start: number): Promise<number> {
  let at = start
  for (;;) {
    const [length = 0] = await file.read(at, 1)
    at += 1 + length
    if (length === 0) return at
  }
}

const webpChunks: ReadonlyMap<string, number> = new Map(
  Object.entries({
    'VP8 ': Number.POSITIVE_INFINITY,
    VP8L: Number.POSITIVE_INFINITY,
    VP8X: 10,
    ALPH: Number.POSITIVE_INFINITY,
    ANIM: 6,
    ANMF: Number.POSITIVE_INFINITY,
    ICCP: Number.POSITIVE_INFINITY,
  }),
)

async function hasWebpExtras(file: PictureFile): Promise<boolean> {
  const riff = await file.read(0, 12)
  if (riff.length < 12 || 8 + riff.readUInt32LE(4) !== file.size) return true
  return await hasOtherChunks(file, 12, file.size)
}

async function hasOtherChunks(file: PictureFile, start: number, end: number): Promise<boolean> {
  let at = start
  while (at < end) {
    const head = await file.read(at, 8)
    if (head.length < 8) return true
    const name = head.toString('latin1', 0, 4)
    const length = head.readUInt32LE(4)
    if (length > (webpChunks.get(name) ?? -1)) return true
    const next = at + 8 + length + (length % 2)
    // A frame has 16 bytes about itself, and then chunks of its own.
    if (name === 'ANMF' && (await hasOtherChunks(file, at + 24, Math.min(next, end)))) return true
    at = next
  }
  return false
}
