import { crc32, deflateRawSync } from 'node:zlib'

/** An entry of an archive that a test makes; what is given besides path and bytes is written whatever it should be. */
export interface MadeEntry {
  readonly path: string | Buffer
  readonly bytes?: Buffer | string
  readonly method?: number
  readonly flags?: number
  readonly crc?: number
  readonly size?: number
  readonly compressedSize?: number
  /** The data as they stand in the archive. */
  readonly stored?: Buffer
  readonly attributes?: number
  readonly extra?: Buffer
  /** What the header before the data says otherwise. */
  readonly local?: Partial<Record<'crc' | 'size' | 'compressedSize' | 'method' | 'flags', number>> & {
    readonly path?: string
    readonly extra?: Buffer
  }
  /** What follows the data. */
  readonly descriptor?: Buffer
  /** Of the header, where it is not where it stands. */
  readonly offset?: number
}

interface MadeArchive {
  readonly before?: Buffer
  readonly comment?: Buffer
  /** Between the directory and its end record. */
  readonly gap?: Buffer
  readonly count?: number
}

export const utf8Flag = 0x800
export const descriptorFlag = 0x8

function completed(entry: MadeEntry) {
  const bytes = Buffer.from(entry.bytes ?? '')
  const method = entry.method ?? (bytes.length > 0 ? 8 : 0)
  const stored = entry.stored ?? (method === 8 ? deflateRawSync(bytes) : bytes)
  const path = Buffer.isBuffer(entry.path) ? entry.path : Buffer.from(entry.path)
  return {
    path,
    method,
    stored,
    flags: entry.flags ?? (path.some((byte) => byte > 127) ? utf8Flag : 0),
    crc: entry.crc ?? crc32(bytes),
    size: entry.size ?? bytes.length,
    compressedSize: entry.compressedSize ?? stored.length,
    attributes: entry.attributes ?? 0,
    extra: entry.extra ?? Buffer.alloc(0),
    descriptor: entry.descriptor ?? Buffer.alloc(0),
  }
}

function u16(...values: number[]): Buffer {
  const bytes = Buffer.alloc(2 * values.length)
  for (const [at, value] of values.entries()) bytes.writeUInt16LE(value, 2 * at)
  return bytes
}

export function u32(...values: number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length)
  for (const [at, value] of values.entries()) bytes.writeUInt32LE(value >>> 0, 4 * at)
  return bytes
}

/** A zip archive, well formed unless an entry or `made` says otherwise. */
export function zipArchive(entries: readonly MadeEntry[], made: MadeArchive = {}): Buffer<ArrayBuffer> {
  const parts: Buffer[] = [made.before ?? Buffer.alloc(0)]
  const directory: Buffer[] = []
  let position = parts[0]?.length ?? 0
  for (const given of entries) {
    const entry = completed(given)
    const local = { ...entry, ...given.local, path: Buffer.from(given.local?.path ?? entry.path) }
    const header = Buffer.concat([
      u32(0x04034b50),
      u16(20, local.flags, local.method, 0, 33),
      u32(local.crc, local.compressedSize, local.size),
      u16(local.path.length, local.extra.length),
      local.path,
      local.extra,
    ])
    directory.push(
      u32(0x02014b50),
      u16(0x0314, 20, entry.flags, entry.method, 0, 33),
      u32(entry.crc, entry.compressedSize, entry.size),
      u16(entry.path.length, entry.extra.length, 0, 0, 0),
      u32(entry.attributes, given.offset ?? position),
      entry.path,
      entry.extra,
    )
    parts.push(header, entry.stored, entry.descriptor)
    position += header.length + entry.stored.length + entry.descriptor.length
  }
  const listed = Buffer.concat(directory)
  const comment = made.comment ?? Buffer.alloc(0)
  const count = made.count ?? entries.length
  const end = [u32(0x06054b50), u16(0, 0, count, count), u32(listed.length, position), u16(comment.length)]
  return Buffer.concat([...parts, listed, made.gap ?? Buffer.alloc(0), ...end, comment])
}
