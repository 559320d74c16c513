export { actionsMigrations } from './actions-migrations.ts'
