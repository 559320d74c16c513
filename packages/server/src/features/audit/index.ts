export type { AuditEntry } from './audit.ts'
export { auditEndpoints } from './audit-endpoints.ts'
export { auditMigrations } from './audit-migrations.ts'
export { audit } from './write-audit.ts'
