export { deletionOf } from './aged-rows.ts'
export {
  listAppliedMigrations,
  listTableNames,
  listTenantTables,
  type TableShape,
} from './catalogue.ts'
export * from './database.ts'
export { isRefusedValue } from './database-errors.ts'
export { contains, forUpdate, forUpdateSkipLocked, isListed, listedTexts } from './dialect.ts'
export { examineForeignFile, findForeignSchema } from './foreign/find-foreign-schema.ts'
export { type KeysetOrder, keysetPage } from './keyset-page.ts'
export { lockName } from './lock-name.ts'
export type { MigrationSchema } from './migration-schema.ts'
export { type Migration, OtherVersion } from './migrator.ts'
export { type OpenDatabaseOptions, openDatabase } from './open-database.ts'
export { findLockHolder, type LockHolder, type ProcessLock, takeLock } from './process-lock.ts'
export { isSqliteFileInUse } from './sqlite-file-use.ts'
export { statement } from './statement.ts'
export {
  jsonIn,
  numberIn,
  optionalNumberIn,
  optionalTagIn,
  optionalTextIn,
  type TenantRow,
  textIn,
} from './tenant-row.ts'
export {
  changeRowsWith,
  deleteRowsWith,
  deleteTenantRows,
  insertTenantRows,
  listTenantRows,
  type RowMatch,
} from './tenant-rows.ts'
