import type { FileId, FileType, IdTag } from '@kith/protocol'
import type { Reader, TenantId, Writer } from '#infra/db/index.ts'
import type { StorageLimits } from '../upload/reserve-storage.ts'

/** Types whose content is not bytes of a blob. */
export type LiveFileType = Extract<FileType, 'CRDT' | 'RTDB'>

/** A state in the past (docs/protocol/file-history.md). */
export interface ContentSnapshot {
  readonly seq: number
  /** Unix seconds. */
  readonly createdAt: number
  /** Bytes. */
  readonly size: number
  /** Identities that wrote since the snapshot before. */
  readonly writers: readonly IdTag[]
}

/** Which state to restore, and in whose name. */
export interface Restoration {
  readonly tenantId: TenantId
  readonly fileId: FileId
  readonly seq: number
  /** Undefined for guests. */
  readonly by: IdTag | undefined
  readonly limits: StorageLimits
}

/** A large content to copy. */
export interface CopyAhead {
  readonly tenantId: TenantId
  readonly from: FileId
  /** A file that is made afterwards. */
  readonly to: FileId
}

/** The contents of documents, or of databases. Callers have checked the rights to the file. */
export interface FileContents {
  /** Of the present state and of snapshots. */
  readonly mediaType: string
  /** The newest committed state, in pieces of at most 1 MiB. A file without content has an empty state. */
  present(tenantId: TenantId, fileId: FileId): AsyncIterable<Uint8Array>
  /** The newest first. */
  listSnapshots(reader: Reader, fileId: FileId): Promise<readonly ContentSnapshot[]>
  /** A snapshot in pieces of at most 1 MiB; undefined when there is none with this number. */
  snapshot(tenantId: TenantId, fileId: FileId, seq: number): Promise<AsyncIterable<Uint8Array> | undefined>
  /** Makes the content what it was, as a new change on top, counted by `countContent`. Answers the number of that change.
   * Throws `E-NOTFOUND` when there is no snapshot with this number. */
  restore(restoration: Restoration): Promise<number>
  /** Gives a new file the present content of another, without its history. Answers its bytes, which are counted by who
   * calls. */
  copy(tx: Writer, from: FileId, to: FileId): Promise<number>
  /** The same in portions, before there is such a file: what is large. Answers its bytes. */
  copyAhead(copy: CopyAhead): Promise<number>
  /** What is wrong with the stored present state, which is not changed; undefined when nothing is. Without it the state is
   * read. */
  check?(tenantId: TenantId, fileId: FileId): Promise<string | undefined>
  /** Removes up to `limit` rows of files that are gone; true when nothing of them is left. */
  remove(tx: Writer, fileIds: readonly FileId[], limit: number): Promise<boolean>
}

/** One for each type. */
export type ContentsByType = Readonly<Record<LiveFileType, FileContents>>

/** What keeps the content of a file of this type; undefined for bytes and folders. */
export function contentsOf(contents: ContentsByType, fileTp: FileType): FileContents | undefined {
  return fileTp === 'CRDT' || fileTp === 'RTDB' ? contents[fileTp] : undefined
}
