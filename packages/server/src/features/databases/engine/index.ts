export { applyTransaction, type EngineDeps } from './apply-transaction.ts'
export { createIndex } from './create-index.ts'
export type {
  Applied,
  DatabaseKey,
  DocumentChange,
  LoggedChanges,
  QueryInput,
  QueryResult,
  TransactionInput,
} from './database.ts'
export { type CompiledFilter, compileFilter, matchesFilter } from './filter.ts'
export { type ChangeList, listChanges } from './list-changes.ts'
export { parsePath, type RtdbPath } from './paths.ts'
export { RtdbFailure } from './rtdb-failure.ts'
export { getDocument, runQuery } from './run-query.ts'
export { documentOrder, project, sortDocuments } from './shape-documents.ts'
export { listDatabaseBytes } from './stored-bytes-store.ts'
export { type JsonObject, memberOf, type ReadDocument } from './values.ts'
