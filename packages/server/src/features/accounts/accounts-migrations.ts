import type { Migration } from '#infra/db/index.ts'

export const accountsMigrations: readonly Migration[] = [
  {
    id: '0110_accounts',
    async up(schema) {
      await schema.createTable(
        'accounts',
        {
          tenant_id: 'integer',
          email: 'text null',
          email_verified_at: 'integer null',
          password_hash: 'text null',
          password_set_at: 'integer null',
          sw_key_sealed: 'blob',
          created_at: 'integer',
        },
        { primaryKey: ['tenant_id'] },
      )
    },
  },
]
