import type { Migration } from '#infra/db/index.ts'

export const pushMigrations: readonly Migration[] = [
  {
    id: '0019_push',
    up: (schema) =>
      schema.createTable(
        'vapid_keys',
        { tenant_id: 'integer', public_key: 'text', private_key_sealed: 'blob', created_at: 'integer' },
        { primaryKey: ['tenant_id'] },
      ),
  },
]
