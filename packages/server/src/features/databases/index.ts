export { databasesMigrations } from './databases-migrations.ts'
export * from './engine/index.ts'
