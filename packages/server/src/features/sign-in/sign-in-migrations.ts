import type { Migration } from '#infra/db/index.ts'

export const signInMigrations: readonly Migration[] = [
  {
    id: '0140_sign_in',
    async up(schema) {
      await schema.createTable(
        'attempt_buckets',
        // What people typed is part of the key, so only its hash is kept.
        { tenant_id: 'integer', key_hash: 'text', full_until_ms: 'integer' },
        { primaryKey: ['tenant_id', 'key_hash'], clustered: true },
      )
      await schema.createIndex('attempt_buckets_by_end', 'attempt_buckets', ['tenant_id', 'full_until_ms'])
    },
  },
]
