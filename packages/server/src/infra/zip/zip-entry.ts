/** A file in an archive: where its bytes lie, and what they must be when they are inflated. */
export interface ZipEntry {
  readonly path: string
  /** Of the first byte of the data, from the beginning of the archive. */
  readonly offset: number
  readonly compressedSize: number
  readonly size: number
  readonly method: 'stored' | 'deflated'
  readonly crc32: number
}

/** What is wrong with an archive. */
export type ZipFaultReason =
  | 'not-a-zip'
  | 'too-many-entries'
  | 'inflated-too-large'
  | 'ratio'
  | 'bad-path'
  | 'duplicate-path'
  | 'symlink'
  | 'encrypted'
  | 'unknown-method'
  | 'zip64'
  | 'damaged'
  | 'nested-archive'

/** The archive cannot be taken. `path` is the entry it is about. */
export class ZipFault extends Error {
  readonly reason: ZipFaultReason
  readonly path: string | undefined

  constructor(reason: ZipFaultReason, path?: string, options?: ErrorOptions) {
    super(path === undefined ? reason : `${reason}: ${path}`, options)
    this.name = 'ZipFault'
    this.reason = reason
    this.path = path
  }
}

/** Which archives are taken. */
export interface ZipPolicy {
  readonly maxEntries: number
  readonly maxInflatedBytes: number
  /** Inflated bytes for each stored one, of an entry and of the whole. */
  readonly maxRatio: number
  /** What inflates to no more than this may have any ratio. */
  readonly smallBytes: number
  /** May a file or a directory have this path? A directory's comes without its final `/`. */
  isPath(path: string): boolean
  /** Two paths with the same key cannot be in one archive. */
  keyOf(path: string): string
}
