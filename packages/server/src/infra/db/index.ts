export { type AgedPortion, type AgedRows, deletionOf } from './aged-rows.ts'
export {
  type ColumnShape,
  listAppliedMigrations,
  listTableNames,
  listTenantTables,
  type TableShape,
} from './catalogue.ts'
export * from './database.ts'
export { isUniqueViolation } from './database-errors.ts'
export { contains, forUpdate, forUpdateSkipLocked, isListed } from './dialect.ts'
export { type FolderHolder, type FolderLock, lockFolder } from './folder-lock.ts'
export { type KeysetOrder, type KeysetRequest, keysetPage } from './keyset-page.ts'
export type { ColumnSpec, IndexSpec, MigrationSchema, TableSpec } from './migration-schema.ts'
export type { Migration } from './migrator.ts'
export { type OpenDatabaseOptions, openDatabase } from './open-database.ts'
export type { ConnectPostgres, PostgresPool, PostgresQuery } from './postgres-pool.ts'
export { isSqliteFileInUse } from './sqlite-file-use.ts'
export { statement } from './statement.ts'
export {
  changeRowsWith,
  deleteRowsWith,
  deleteTenantRows,
  insertTenantRows,
  listTenantRows,
  type RowMatch,
  type TenantRow,
  type TenantRowsPage,
} from './tenant-rows.ts'
export type { DatabaseLogger } from './transaction-watch.ts'
