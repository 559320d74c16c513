import { crc32 } from 'node:zlib'
import type { Entry, ExtraField } from 'yauzl'
import { ZipFault, type ZipPolicy } from './zip-entry.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
// biome-ignore lint/suspicious/noControlCharactersInRegex: the range is "not ASCII"
const notAscii = /[^\x00-\x7f]/
const utf8Flag = 0x800

/** The text of an entry's path. Beyond ASCII only UTF-8 is read: of entries that say that it is, or that have it in the
 * field in which Info-ZIP writes it. */
export function decodePath({ fileNameRaw, generalPurposeBitFlag, extraFields }: Entry): string {
  const isUtf8 = (generalPurposeBitFlag & utf8Flag) !== 0
  const plain = decoded(fileNameRaw)
  const text = isUtf8 || !notAscii.test(plain ?? '\u0080') ? plain : unicodePath(fileNameRaw, extraFields)
  if (text === undefined) throw new ZipFault('bad-path', fileNameRaw.toString('latin1').slice(0, 100))
  return text
}

const unicodePathField = 0x7075

/** The field names the path for which it was written by a checksum. */
function unicodePath(raw: Buffer, fields: readonly ExtraField[]): string | undefined {
  const data = fields.find(({ id }) => id === unicodePathField)?.data
  if (!data || data.length < 5 || data[0] !== 1 || data.readUInt32LE(1) !== crc32(raw)) return undefined
  return decoded(data.subarray(5))
}

function decoded(raw: Buffer): string | undefined {
  try {
    return utf8.decode(raw)
  } catch {
    return undefined
  }
}

/** The paths of an archive, each once: neither twice, nor in another spelling, nor as file and directory. */
export class ZipPaths {
  readonly #policy: Pick<ZipPolicy, 'isPath' | 'keyOf'>
  // Bounded by the entries of the archive, and the depth of their paths.
  readonly #kinds = new Map<string, { readonly path: string; readonly isFile: boolean }>()
  readonly #listedDirectories = new Set<string>()

  constructor(policy: Pick<ZipPolicy, 'isPath' | 'keyOf'>) {
    this.#policy = policy
  }

  addFile(path: string): void {
    this.#assertAllowed(path)
    if (this.#kinds.has(this.#policy.keyOf(path))) throw new ZipFault('duplicate-path', path)
    this.#kinds.set(this.#policy.keyOf(path), { path, isFile: true })
    this.#addParents(path)
  }

  addDirectory(path: string): void {
    this.#assertAllowed(path)
    if (this.#listedDirectories.has(path)) throw new ZipFault('duplicate-path', path)
    this.#listedDirectories.add(path)
    this.#pass(path)
    this.#addParents(path)
  }

  #assertAllowed(path: string): void {
    if (!this.#policy.isPath(path)) throw new ZipFault('bad-path', path)
  }

  #addParents(path: string): void {
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1))
      if (this.#pass(path.slice(0, end))) return
  }

  /** Notes a directory; true when it was known. */
  #pass(path: string): boolean {
    const key = this.#policy.keyOf(path)
    const known = this.#kinds.get(key)
    if (known && (known.isFile || known.path !== path)) throw new ZipFault('duplicate-path', path)
    if (!known) this.#kinds.set(key, { path, isFile: false })
    return known !== undefined
  }
}
