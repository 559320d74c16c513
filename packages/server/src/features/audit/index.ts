export { auditEndpoints } from './audit-endpoints.ts'
export { auditMigrations } from './audit-migrations.ts'
export { addAuditSweep } from './sweep-audit.ts'
export { audit } from './write-audit.ts'
