import type { Migration } from '#infra/db/index.ts'

export const keysMigrations: readonly Migration[] = [
  {
    id: '0010_keys',
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

export const revokedKeysMigrations: readonly Migration[] = [
  {
    id: '1330_revoked_keys',
    up: (schema) => schema.addColumn('signing_keys', 'revoked_at', 'integer null'),
  },
]
