import type { Migration } from '#infra/db/index.ts'

/** Locks on paths of databases: as long as a connection lives, a minute at most without a word. */
export const locksMigrations: readonly Migration[] = [
  {
    id: '0031_database_locks',
    async up(schema) {
      await schema.createTable(
        'rtdb_locks',
        {
          tenant_id: 'integer',
          file_id: 'text',
          path: 'text',
          holder: 'text',
          conn_id: 'text',
          mode: 'text',
          expires_at: 'integer',
        },
        { primaryKey: ['tenant_id', 'file_id', 'path'] },
      )
      // Those of all tenants by their end.
      await schema.createIndex('rtdb_locks_expiry', 'rtdb_locks', ['expires_at'])
    },
  },
]
