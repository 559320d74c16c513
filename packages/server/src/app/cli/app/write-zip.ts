import { crc32, deflateRawSync } from 'node:zlib'
import { appPackageLimits } from '@kith/protocol'

export interface ZipEntry {
  readonly path: string
  readonly content: Uint8Array
}

// 1 January 1980, the first day that a zip can name: the archive depends on its entries alone.
const date = 0x0021
const version = 20
const utf8Names = 0x0800
const stored = 0
const deflated = 8
const regularFile = 0o100644

/** A zip archive of these entries, in the order of their paths. The same entries make the same bytes. */
export function writeZip(entries: readonly ZipEntry[]): Buffer {
  const sorted = [...entries].sort((a, b) => (a.path < b.path ? -1 : 1))
  const parts: Uint8Array[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const entry of sorted) {
    const packed = pack(entry)
    const local = localHeader(packed)
    directory.push(directoryHeader(packed, offset))
    parts.push(local, packed.bytes)
    offset += local.length + packed.bytes.length
  }
  const listing = Buffer.concat(directory)
  return Buffer.concat([...parts, listing, endOf(sorted.length, listing.length, offset)])
}

interface Packed {
  readonly name: Buffer
  readonly bytes: Uint8Array
  readonly size: number
  readonly method: number
  readonly crc: number
}

function pack({ path, content }: ZipEntry): Packed {
  const compressed = deflateRawSync(content, { level: 9 })
  // What compresses better than a package may is stored, and so is what does not compress.
  const isSmaller = compressed.length < content.length
  const isAllowed = content.length <= compressed.length * appPackageLimits.ratio
  const method = isSmaller && isAllowed ? deflated : stored
  return {
    name: Buffer.from(path),
    bytes: method === deflated ? compressed : content,
    size: content.length,
    method,
    crc: crc32(content),
  }
}

/** The members that both headers of an entry have, from the version on. */
function common({ name, bytes, size, method, crc }: Packed): Buffer {
  const header = Buffer.alloc(26)
  header.writeUInt16LE(version, 0)
  header.writeUInt16LE(utf8Names, 2)
  header.writeUInt16LE(method, 4)
  header.writeUInt16LE(0, 6)
  header.writeUInt16LE(date, 8)
  header.writeUInt32LE(crc, 10)
  header.writeUInt32LE(bytes.length, 14)
  header.writeUInt32LE(size, 18)
  header.writeUInt16LE(name.length, 22)
  header.writeUInt16LE(0, 24)
  return header
}

function localHeader(packed: Packed): Buffer {
  return Buffer.concat([Buffer.from('PK\x03\x04'), common(packed), packed.name])
}

function directoryHeader(packed: Packed, offset: number): Buffer {
  const madeOnUnix = Buffer.from([version, 3])
  const rest = Buffer.alloc(14)
  rest.writeUInt32LE(regularFile * 0x10000, 6)
  rest.writeUInt32LE(offset, 10)
  return Buffer.concat([Buffer.from('PK\x01\x02'), madeOnUnix, common(packed), rest, packed.name])
}

function endOf(count: number, size: number, offset: number): Buffer {
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 'latin1')
  end.writeUInt16LE(count, 8)
  end.writeUInt16LE(count, 10)
  end.writeUInt32LE(size, 12)
  end.writeUInt32LE(offset, 16)
  return end
}
