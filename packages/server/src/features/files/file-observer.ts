import type { FileId, IdTag } from '@kith/protocol'
import type { Writer } from '#infra/db/index.ts'

/** What happened to a file at the tenant of a transaction. */
export interface FileEvent {
  readonly fileId: FileId
  readonly event: 'created' | 'updated' | 'deleted' | 'shared' | 'unshared'
  /** Whom it concerns, besides the tenant itself and those it is shared with. */
  readonly to: readonly IdTag[]
}

/** Who is told of files, in the transaction. */
export interface FileObserver {
  readonly onFile?: (tx: Writer, happened: FileEvent) => Promise<void>
}
