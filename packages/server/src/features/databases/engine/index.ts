export { aggregateRows, groupsOf } from './aggregate.ts'
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
export { parsePath, type RtdbPath } from './paths.ts'
export { RtdbFailure } from './rtdb-failure.ts'
export { documentOrder, project, sortDocuments } from './shape-documents.ts'
export { compareValues, isEqualValue, type JsonObject, memberOf, type ReadDocument } from './values.ts'
