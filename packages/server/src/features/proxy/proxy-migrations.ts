import type { Migration } from '#infra/db/index.ts'

export const proxyMigrations: readonly Migration[] = [
  {
    id: '0028_proxy_sites',
    up: (schema) =>
      schema.createTable(
        'proxy_sites',
        {
          site_id: 'autoincrement',
          tenant_id: 'integer',
          domain: 'text',
          backend_url: 'text',
          status: 'text',
          type: 'text',
          config: 'text',
          created_at: 'integer',
          updated_at: 'integer',
        },
        { unique: [['domain']] },
      ),
  },
]
