import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { pixelTiff } from './pixel-tiff.ts'

/** The C functions of libheif that are called here; a structure that one answers goes to the address that comes first. */
interface Libheif {
  readonly HEAPU8: Uint8Array
  _malloc(bytes: number): number
  _heif_context_alloc(): number
  _heif_context_set_maximum_image_size_limit(context: number, side: number): void
  _heif_context_read_from_memory_without_copy(
    error: number,
    context: number,
    data: number,
    length: number,
    options: number,
  ): void
  _heif_context_get_primary_image_handle(error: number, context: number, handle: number): void
  _heif_image_handle_get_width(handle: number): number
  _heif_image_handle_get_height(handle: number): number
  _heif_image_handle_has_alpha_channel(handle: number): number
  _heif_decode_image(
    error: number,
    handle: number,
    image: number,
    colorspace: number,
    chroma: number,
    options: number,
  ): void
  _heif_image_get_width(image: number, channel: number): number
  _heif_image_get_height(image: number, channel: number): number
  _heif_image_get_plane_readonly2(image: number, channel: number, stride: number): number
}

/** The decoder needs more memory than it may have. */
export class HeicMemoryError extends Error {}

interface HeicOptions {
  readonly maxPixels: number
  /** Of the decoder's own memory. */
  readonly maxMemoryBytes: number
  readonly profile: Uint8Array | undefined
}

const rgb = 1
const interleaved = 10
const withoutAlpha = 10
const withAlpha = 11

/** The pixels of the main picture of a HEIC file, upright, as an uncompressed TIFF. Throws for what the decoder cannot read.
 * It blocks its thread, and what it took is given back with the process alone. */
export function decodeHeic(file: Uint8Array, { maxPixels, maxMemoryBytes, profile }: HeicOptions): Buffer {
  const memory = limitMemory(maxMemoryBytes)
  try {
    return decode(startDecoder(), file, { maxPixels, profile })
  } catch (error) {
    if (memory.isExceeded()) throw new HeicMemoryError('The decoder needs too much memory', { cause: error })
    throw error
  }
}

interface WasmMemory {
  readonly buffer: ArrayBuffer
  grow(pages: number): number
}
// The types of Node do not have it.
declare const WebAssembly: { readonly Memory: { readonly prototype: WasmMemory } }

/** Lets no memory of WebAssembly grow beyond this many bytes: the decoder sees a failed allocation. */
function limitMemory(maxBytes: number) {
  const { grow } = WebAssembly.Memory.prototype
  let isExceeded = false
  WebAssembly.Memory.prototype.grow = function (this: WasmMemory, pages: number) {
    if (this.buffer.byteLength + pages * 65_536 <= maxBytes) return grow.call(this, pages)
    isExceeded = true
    throw new RangeError('no more memory')
  }
  return { isExceeded: () => isExceeded }
}

function startDecoder(): Libheif {
  const require = createRequire(import.meta.url)
  const start = require('libheif-js/libheif-wasm/libheif.js') as (options: object) => Libheif
  const wasmBinary = readFileSync(require.resolve('libheif-js/libheif-wasm/libheif.wasm'))
  return start({ wasmBinary, print: () => {}, printErr: () => {} })
}

function decode(
  lib: Libheif,
  file: Uint8Array,
  { maxPixels, profile }: Pick<HeicOptions, 'maxPixels' | 'profile'>,
): Buffer {
  const error = allocate(lib, 12)
  const pointer = allocate(lib, 4)
  const done = () => assertDone(lib, error)
  const input = allocate(lib, file.length)
  lib.HEAPU8.set(file, input)
  const context = lib._heif_context_alloc()
  lib._heif_context_set_maximum_image_size_limit(context, Math.floor(Math.sqrt(maxPixels)))
  lib._heif_context_read_from_memory_without_copy(error, context, input, file.length, 0)
  done()
  lib._heif_context_get_primary_image_handle(error, context, pointer)
  done()
  const handle = readNumber(lib, pointer)
  const claimed = lib._heif_image_handle_get_width(handle) * lib._heif_image_handle_get_height(handle)
  if (claimed > maxPixels) throw new Error('too many pixels')
  const hasAlpha = lib._heif_image_handle_has_alpha_channel(handle) === 1
  lib._heif_decode_image(error, handle, pointer, rgb, hasAlpha ? withAlpha : withoutAlpha, 0)
  done()
  const channels = hasAlpha ? 4 : 3
  return pixelTiff({ ...readPixels(lib, readNumber(lib, pointer), channels), channels, profile })
}

function readPixels(lib: Libheif, image: number, channels: number) {
  const width = lib._heif_image_get_width(image, interleaved)
  const height = lib._heif_image_get_height(image, interleaved)
  const strideAt = allocate(lib, 4)
  const plane = lib._heif_image_get_plane_readonly2(image, interleaved, strideAt)
  const stride = readNumber(lib, strideAt)
  const row = width * channels
  if (plane === 0 || width < 1 || height < 1 || stride < row) throw new Error('no pixels')
  const data = Buffer.alloc(row * height)
  for (let y = 0; y < height; y++)
    data.set(lib.HEAPU8.subarray(plane + y * stride, plane + y * stride + row), y * row)
  return { data, width, height }
}

function allocate(lib: Libheif, bytes: number): number {
  const address = lib._malloc(bytes)
  if (address === 0) throw new Error('no memory')
  return address
}

function readNumber({ HEAPU8 }: Libheif, address: number): number {
  return new DataView(HEAPU8.buffer).getUint32(address, true)
}

/** A structure of two numbers and a sentence; the first is 0 where all went well. */
function assertDone(lib: Libheif, error: number): void {
  const code = readNumber(lib, error)
  if (code === 0) return
  const sentence = readNumber(lib, error + 8)
  const end = lib.HEAPU8.indexOf(0, sentence)
  throw new Error(Buffer.from(lib.HEAPU8.subarray(sentence, Math.min(end, sentence + 200))).toString())
}
