import type { Migration } from '#infra/db/index.ts'

export const auditMigrations: readonly Migration[] = [
  {
    id: '0011_audit',
    async up(schema) {
      await schema.createTable(
        'audit_log',
        {
          tenant_id: 'integer',
          entry_id: 'text',
          at_ms: 'integer',
          event: 'text',
          actor_tag: 'text null',
          ip: 'text null',
          details: 'json',
        },
        { primaryKey: ['tenant_id', 'entry_id'] },
      )
      await schema.createIndex('audit_log_by_time', 'audit_log', ['tenant_id', 'at_ms', 'entry_id'])
      // The entries of all tenants by their age.
      await schema.createIndex('audit_log_age', 'audit_log', ['at_ms'])
    },
  },
]
