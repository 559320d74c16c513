import type { FileId, IdTag } from '@kith/protocol'
import type { Emit } from '#infra/events/index.ts'

/** What happened to a file at the tenant of a transaction. */
export interface FileEvent {
  readonly kind: 'file.created' | 'file.updated' | 'file.deleted' | 'file.shared' | 'file.unshared'
  readonly fileId: FileId
  /** Whom it concerns, besides the tenant itself; of the first three also those with whom it is shared. */
  readonly to: readonly IdTag[]
}

/** What everything needs that changes files. */
export interface FileEmitter {
  readonly emit: Emit<FileEvent>
}
