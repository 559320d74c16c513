import { type Entry, fromRandomAccessReaderPromise, type ZipFile } from 'yauzl'
import { BlockReader, type ZipReader } from './block-reader.ts'
import { assertNoOverlap, type DataPlace, placeOf } from './local-headers.ts'
import { type ZipEntry, ZipFault, type ZipPolicy } from './zip-entry.ts'
import { decodePath, ZipPaths } from './zip-paths.ts'

/** An archive: on disk a `FileHandle` reads it. */
export interface ZipSource {
  readonly file: ZipReader
  readonly size: number
}

/** An archive in memory. */
export function zipInMemory(bytes: Buffer): ZipSource {
  const read: ZipReader['read'] = async (target, offset, length, position) => ({
    bytesRead: bytes.copy(target, offset, position, position + length),
  })
  return { file: { read }, size: bytes.length }
}

const endRecordBytes = 22
const zip64LocatorBytes = 20
const zip64LocatorSignature = 0x07064b50

/** The files in an archive, by its directory and the headers before the data, which must say the same. Nothing is
 * inflated. Throws a `ZipFault` for whatever the policy does not take. */
export async function readZipIndex(source: ZipSource, policy: ZipPolicy): Promise<ZipEntry[]> {
  await assertPlain(source)
  const reader = new BlockReader(source.file)
  try {
    return await Promise.race([readAll(source, reader, policy), reader.thrown])
  } catch (error) {
    throw error instanceof ZipFault ? error : faultOf(error)
  }
}

/** Of the reading itself, such as a failing disk, it tells nothing: the archive is at fault for what yauzl says. */
function faultOf(error: unknown): unknown {
  const isSystemError = typeof error === 'object' && error !== null && 'syscall' in error
  if (isSystemError || !(error instanceof Error)) return error
  return new ZipFault(/encryption/.test(error.message) ? 'encrypted' : 'damaged', undefined, { cause: error })
}

/** The last bytes must be the end record itself, without a comment in which another one could stand. */
async function assertPlain({ file, size }: ZipSource): Promise<void> {
  const tail = Buffer.alloc(endRecordBytes + zip64LocatorBytes)
  const start = Math.max(0, size - tail.length)
  const { bytesRead } = await file.read(tail, 0, Math.min(size, tail.length), start)
  const end = bytesRead - endRecordBytes
  if (end < 0 || tail.readUInt32LE(end) !== 0x06054b50) throw new ZipFault('not-a-zip')
  if (tail.readUInt16LE(end + 20) !== 0) throw new ZipFault('damaged')
  if (end >= zip64LocatorBytes && tail.readUInt32LE(end - zip64LocatorBytes) === zip64LocatorSignature)
    throw new ZipFault('zip64')
}

async function readAll(source: ZipSource, reader: BlockReader, policy: ZipPolicy): Promise<ZipEntry[]> {
  const zip = await fromRandomAccessReaderPromise(reader, source.size, { decodeStrings: false })
  if (zip.entryCount > policy.maxEntries) throw new ZipFault('too-many-entries')
  const directoryStart = cursorOf(zip)
  const listed = await listEntries(zip, policy)
  if (cursorOf(zip) !== source.size - endRecordBytes) throw new ZipFault('damaged')
  const places: DataPlace[] = []
  for (const entry of listed) places.push(await placeOf(zip, reader, entry))
  assertNoOverlap(places, directoryStart)
  return listed.flatMap((entry, at) => fileOf(entry, places[at]))
}

/** Where the next record of the directory begins; the type says something else. */
function cursorOf(zip: ZipFile): number {
  return Number(zip.readEntryCursor)
}

/** An entry of the directory with its path; a directory has none. */
export interface ListedEntry {
  readonly entry: Entry
  readonly path: string | undefined
}

const entriesInTurn = 100

async function listEntries(zip: ZipFile, policy: ZipPolicy): Promise<ListedEntry[]> {
  const paths = new ZipPaths(policy)
  const listed: ListedEntry[] = []
  const total = { size: 0, compressed: 0 }
  for await (const entry of zip.eachEntry()) {
    const name = decodePath(entry)
    assertTaken(entry, name, policy)
    const isDirectory = name.endsWith('/')
    if (isDirectory) paths.addDirectory(name.slice(0, -1))
    else paths.addFile(name)
    total.size += entry.uncompressedSize
    total.compressed += entry.compressedSize
    if (total.size > policy.maxInflatedBytes) throw new ZipFault('inflated-too-large')
    // Of a thousand entries they could be a million objects.
    entry.extraFields = []
    listed.push({ entry, path: isDirectory ? undefined : name })
    if (listed.length % entriesInTurn === 0) await new Promise(setImmediate)
  }
  if (isTooDense(total.size, total.compressed, policy)) throw new ZipFault('ratio')
  return listed
}

const methods = { 0: 'stored', 8: 'deflated' } as const
const encryptionFlags = 0x2041
const zip64Field = 1
// Of extra fields and of a comment: times, owners, a path in UTF-8.
const maxFieldBytes = 1024
const typeBits = 0o170000
const regularFile = 0o100000
const directory = 0o040000
const dosDirectory = 0x10

function assertTaken(entry: Entry, name: string, policy: ZipPolicy): void {
  const { compressionMethod, uncompressedSize, compressedSize } = entry
  const isDirectory = name.endsWith('/')
  const type = (entry.externalFileAttributes >>> 16) & typeBits
  if (entry.generalPurposeBitFlag & encryptionFlags) throw new ZipFault('encrypted', name)
  if (!(compressionMethod in methods)) throw new ZipFault('unknown-method', name)
  if (type !== 0 && type !== (isDirectory ? directory : regularFile)) throw new ZipFault('symlink', name)
  if (entry.externalFileAttributes & dosDirectory && !isDirectory) throw new ZipFault('symlink', name)
  if (entry.extraFields.some(({ id }) => id === zip64Field)) throw new ZipFault('zip64', name)
  if (entry.extraFieldLength > maxFieldBytes || entry.fileCommentLength > maxFieldBytes)
    throw new ZipFault('damaged', name)
  if (isDirectory && uncompressedSize !== 0) throw new ZipFault('damaged', name)
  if (isTooDense(uncompressedSize, compressedSize, policy)) throw new ZipFault('ratio', name)
}

function isTooDense(size: number, compressed: number, { maxRatio, smallBytes }: ZipPolicy): boolean {
  return size > smallBytes && size > maxRatio * compressed
}

function fileOf({ entry, path }: ListedEntry, place: DataPlace | undefined): ZipEntry[] {
  if (path === undefined || !place) return []
  const { compressedSize, uncompressedSize: size, crc32 } = entry
  const method = methods[entry.compressionMethod as keyof typeof methods]
  return [{ path, offset: place.dataStart, compressedSize, size, method, crc32 }]
}
