import type { Migration } from '#infra/db/index.ts'

export const identitiesMigrations: readonly Migration[] = [
  {
    id: '0150_identities',
    async up(schema) {
      await schema.createTable(
        'identities',
        {
          tenant_id: 'integer',
          id_tag: 'text',
          server: 'text',
          inbox_url: 'text',
          document: 'json',
          etag: 'text null',
          fetched_at: 'integer',
          expires_at: 'integer',
        },
        { primaryKey: ['tenant_id', 'id_tag'] },
      )
      await schema.createIndex('identities_expiry', 'identities', ['tenant_id', 'expires_at'])
    },
  },
]
