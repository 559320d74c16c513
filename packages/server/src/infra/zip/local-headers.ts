import type { ZipFile } from 'yauzl'
import type { BlockReader } from './block-reader.ts'
import type { ListedEntry } from './read-zip-index.ts'
import { ZipFault } from './zip-entry.ts'

/** Which bytes an entry occupies: from its header to the end of its data, and of the descriptor after it. */
export interface DataPlace {
  readonly start: number
  readonly dataStart: number
  readonly end: number
}

const descriptorFlag = 0x8
const descriptorSignature = 0x08074b50
const zip64Field = 1

/** The place of an entry's data. What the header before it says must be what the directory says. */
export async function placeOf(zip: ZipFile, reader: BlockReader, listed: ListedEntry): Promise<DataPlace> {
  const { entry } = listed
  const name = listed.path ?? entry.fileNameRaw.toString('latin1')
  const header = await zip.readLocalFileHeaderPromise(entry)
  const hasDescriptor = (entry.generalPurposeBitFlag & descriptorFlag) !== 0
  const sizes = [
    [header.crc32, entry.crc32],
    [header.compressedSize, entry.compressedSize],
    [header.uncompressedSize, entry.uncompressedSize],
  ] as const
  const isEqual =
    header.fileName.equals(entry.fileNameRaw) &&
    header.generalPurposeBitFlag === entry.generalPurposeBitFlag &&
    header.compressionMethod === entry.compressionMethod &&
    sizes.every(([local, central]) => local === central || (hasDescriptor && local === 0))
  if (!isEqual) throw new ZipFault('damaged', name)
  if (hasField(header.extraField, zip64Field)) throw new ZipFault('zip64', name)
  const dataEnd = header.fileDataStart + entry.compressedSize
  const descriptor = hasDescriptor ? await descriptorLength(reader, dataEnd, listed) : 0
  return {
    start: entry.relativeOffsetOfLocalHeader,
    dataStart: header.fileDataStart,
    end: dataEnd + descriptor,
  }
}

function hasField(fields: Buffer, wanted: number): boolean {
  for (let at = 0; at + 4 <= fields.length; at += 4 + fields.readUInt16LE(at + 2))
    if (fields.readUInt16LE(at) === wanted) return true
  return false
}

/** The descriptor after the data repeats checksum and sizes, after a signature that may be left out. */
async function descriptorLength(
  reader: BlockReader,
  position: number,
  { entry, path }: ListedEntry,
): Promise<number> {
  const bytes = Buffer.alloc(16)
  await reader.fill(bytes, position)
  const expected = [entry.crc32, entry.compressedSize, entry.uncompressedSize]
  for (const before of [[descriptorSignature], []]) {
    const words = [...before, ...expected]
    if (words.every((word, at) => bytes.readUInt32LE(4 * at) === word)) return 4 * words.length
  }
  throw new ZipFault('damaged', path)
}

/** Each byte before the directory belongs to one entry at most. */
export function assertNoOverlap(places: readonly DataPlace[], directoryStart: number): void {
  let end = 0
  for (const place of places.toSorted((a, b) => a.start - b.start)) {
    if (place.start < end) throw new ZipFault('damaged')
    end = place.end
  }
  if (end > directoryStart) throw new ZipFault('damaged')
}
