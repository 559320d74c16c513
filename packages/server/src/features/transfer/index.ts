export { type AccountExports, openAccountExports } from './account-exports.ts'
export { exportEndpoints } from './export-endpoints.ts'
export { exportTenant } from './export-tenant.ts'
export { exportsMigrations } from './exports-migrations.ts'
export { movedJobs, type QueueMovedDeps, readMovedJob, stayingJobs } from './moved-jobs.ts'
export { decodeRows } from './row-lines.ts'
export {
  jsonColumns,
  listMovedTables,
  type MovedTable,
  notExportedTables,
  sealedColumns,
} from './tenant-tables.ts'
export {
  type About,
  type Manifest,
  names,
  readAbout,
  readManifest,
  unreadable,
} from './transfer-format.ts'
