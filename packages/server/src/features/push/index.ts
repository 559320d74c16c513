export { vapidKeysSealed } from './get-vapid-key.ts'
export { pushEndpoints } from './push-endpoints.ts'
export { pushMigrations } from './push-migrations.ts'
