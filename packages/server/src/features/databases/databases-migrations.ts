import type { Migration, MigrationSchema } from '#infra/db/index.ts'
import { locksMigrations } from './locks/locks-migrations.ts'

const ofDatabase = { tenant_id: 'integer', file_id: 'text' } as const

/** What is in real-time databases. NOTE: no foreign key to the files: removing a large database at once would keep others
 * from writing. */
export const databasesMigrations: readonly Migration[] = [
  {
    id: '0025_databases',
    async up(schema) {
      await schema.createTable(
        'rtdb_databases',
        {
          ...ofDatabase,
          last_seq: 'integer',
          // Of documents and index entries; and how much of it the quota knows.
          bytes: 'integer',
          counted_bytes: 'integer',
          log_bytes: 'integer',
          // Who wrote since the last snapshot, and when the next one is due.
          writers: 'json',
          snapshot_due_at: 'integer null',
        },
        { primaryKey: ['tenant_id', 'file_id'] },
      )
      await schema.createIndex('rtdb_databases_snapshot_due', 'rtdb_databases', ['snapshot_due_at'], {
        where: 'snapshot_due_at is not null',
      })
      await createDocuments(schema)
      await createLogs(schema)
      await createSnapshots(schema)
    },
  },
  ...locksMigrations,
]

async function createDocuments(schema: MigrationSchema): Promise<void> {
  // `collection` and `doc_id` are keys: see `sort-keys.ts`.
  await schema.createTable(
    'rtdb_documents',
    {
      ...ofDatabase,
      collection: 'text',
      doc_id: 'text',
      size: 'integer',
      // The path of the collection where the key is not the path itself.
      collection_path: 'text null',
      data: 'json',
    },
    { primaryKey: ['tenant_id', 'file_id', 'collection', 'doc_id'], clustered: true },
  )
  await schema.createTable(
    'rtdb_indexes',
    {
      ...ofDatabase,
      index_no: 'integer',
      collection: 'text',
      field: 'text',
      // Documents up to this one have entries; null: all have.
      built_to: 'text null',
    },
    { primaryKey: ['tenant_id', 'file_id', 'index_no'] },
  )
  await schema.createTable(
    'rtdb_index_entries',
    { ...ofDatabase, index_no: 'integer', key: 'text', doc_id: 'text' },
    { primaryKey: ['tenant_id', 'file_id', 'index_no', 'key', 'doc_id'], clustered: true },
  )
}

async function createLogs(schema: MigrationSchema): Promise<void> {
  await schema.createTable(
    'rtdb_changes',
    { ...ofDatabase, seq: 'integer', at: 'integer', size: 'integer', changes: 'json' },
    { primaryKey: ['tenant_id', 'file_id', 'seq'], clustered: true },
  )
  await schema.createIndex('rtdb_changes_age', 'rtdb_changes', ['at'])
  await schema.createTable(
    'rtdb_transactions',
    { ...ofDatabase, account: 'text', tx_id: 'text', at: 'integer', answer: 'json' },
    { primaryKey: ['tenant_id', 'file_id', 'account', 'tx_id'], clustered: true },
  )
  await schema.createIndex('rtdb_transactions_age', 'rtdb_transactions', ['at'])
}

async function createSnapshots(schema: MigrationSchema): Promise<void> {
  await schema.createTable(
    'rtdb_snapshots',
    {
      ...ofDatabase,
      seq: 'integer',
      created_at: 'integer',
      size: 'integer',
      stored_bytes: 'integer',
      writers: 'json',
    },
    { primaryKey: ['tenant_id', 'file_id', 'seq'] },
  )
  await schema.createTable(
    'rtdb_snapshot_parts',
    { ...ofDatabase, seq: 'integer', part: 'integer', data: 'blob' },
    { primaryKey: ['tenant_id', 'file_id', 'seq', 'part'] },
  )
}
