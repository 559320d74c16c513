import type {
  FileId,
  RtdbAggregate,
  RtdbFilter,
  RtdbGroup,
  RtdbOperation,
  RtdbOperationResult,
  RtdbSort,
} from '@kith/protocol'
import type { TenantId, Writer } from '#infra/db/index.ts'
import type { ReadDocument } from './values.ts'

/** Which database. */
export interface DatabaseKey {
  readonly tenantId: TenantId
  readonly fileId: FileId
}

/** What an operation did to one document. The documents are as they are read, with their `id`. */
export interface DocumentChange {
  readonly action: 'create' | 'update' | 'delete'
  readonly path: string
  /** Absent for `create`. */
  readonly before?: ReadDocument
  /** Absent for `delete`. */
  readonly after?: ReadDocument
  /** The top-level fields that differ, without `id`. */
  readonly keys: readonly string[]
}

/** A transaction to do. Operations are checked here, whatever the caller has checked before. */
export interface TransactionInput {
  readonly operations: readonly RtdbOperation[]
  readonly txId?: string | undefined
  /** Whose `txId` it is. */
  readonly account: string
  /** Asked in the transaction, before anything is written, with the paths of the documents it writes; throws 423. */
  readonly assertUnlocked?: ((tx: Writer, paths: readonly string[]) => Promise<void>) | undefined
}

/** A transaction that is done, and durable. */
export interface Applied {
  /** The number of the state after it: the same as before when nothing has changed. */
  readonly seq: number
  readonly results: readonly RtdbOperationResult[]
  /** In the order of the operations; empty when it is repeated. */
  readonly changes: readonly DocumentChange[]
  /** Done before under the same `txId`: these are the results of that time. */
  readonly isRepeated: boolean
}

export interface QueryInput {
  /** Of a collection. */
  readonly path: string
  readonly filter?: RtdbFilter | undefined
  readonly sort?: RtdbSort | undefined
  readonly limit?: number | undefined
  readonly offset?: number | undefined
  readonly aggregate?: RtdbAggregate | undefined
  readonly select?: readonly string[] | undefined
}

/** The state at exactly `seq`. */
export interface QueryResult {
  readonly data: readonly (ReadDocument | RtdbGroup)[]
  readonly seq: number
}

/** The changes of one transaction. */
export interface LoggedChanges {
  readonly seq: number
  readonly changes: readonly DocumentChange[]
}
