import type { Migration } from '#infra/db/index.ts'

export const keysMigrations: readonly Migration[] = [
  {
    id: '0001_keys',
    async up(schema) {
      await schema.createTable(
        'signing_keys',
        {
          tenant_id: 'integer',
          kid: 'text',
          public_key: 'text',
          sealed_private_key: 'blob',
          created_at: 'integer',
          retired_at: 'integer null',
          revoked_at: 'integer null',
        },
        { primaryKey: ['tenant_id', 'kid'] },
      )
      await schema.createIndex('signing_keys_current', 'signing_keys', ['tenant_id'], {
        unique: true,
        where: 'retired_at is null',
      })
      await schema.createTable(
        'token_secrets',
        {
          tenant_id: 'integer',
          kid: 'text',
          sealed_secret: 'blob',
          created_at: 'integer',
          retired_at: 'integer null',
        },
        { primaryKey: ['tenant_id', 'kid'] },
      )
      await schema.createIndex('token_secrets_current', 'token_secrets', ['tenant_id'], {
        unique: true,
        where: 'retired_at is null',
      })
    },
  },
]
