export { type ContentsDeps, databaseContents } from './contents/database-contents.ts'
export { addDatabaseJobs } from './databases-jobs.ts'
export { databasesMigrations } from './databases-migrations.ts'
export * from './engine/index.ts'
