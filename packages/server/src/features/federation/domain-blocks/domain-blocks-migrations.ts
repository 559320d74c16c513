import type { Migration } from '#infra/db/index.ts'

export const domainBlocksMigrations: readonly Migration[] = [
  {
    id: '0700_domain_blocks',
    async up(schema) {
      await schema.createTable(
        'domain_blocks',
        {
          tenant_id: 'integer',
          domain: 'text',
          reason: 'text null',
          created_by: 'text',
          created_at: 'integer',
        },
        { primaryKey: ['tenant_id', 'domain'] },
      )
    },
  },
]
