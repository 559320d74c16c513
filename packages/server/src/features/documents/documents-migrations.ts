import type { Migration, MigrationSchema } from '#infra/db/index.ts'

/** Collaborative documents: their logs of updates, and what they were at times. Nothing refers to `files`: a large document
 * is removed in portions. Bytes stand in parts of a bounded size, so that no row is large. */
export const documentsMigrations: readonly Migration[] = [
  {
    id: '0024_documents',
    async up(schema) {
      await schema.createTable(
        'crdt_documents',
        {
          tenant_id: 'integer',
          file_id: 'text',
          last_seq: 'integer',
          state_bytes: 'integer',
          log_bytes: 'integer',
          // What `storage_usage` does not know of yet; negative where it knows of more.
          uncounted_bytes: 'integer',
          // When the history has something to forget, Unix seconds.
          thin_at: 'integer null',
        },
        { primaryKey: ['tenant_id', 'file_id'] },
      )
      await schema.createIndex('crdt_documents_thin', 'crdt_documents', ['thin_at'], {
        where: 'thin_at is not null',
      })
      await createLog(schema)
      await createHistory(schema)
    },
  },
]

/** How long it takes to open a document. */
export const documentCostMigrations: readonly Migration[] = [
  {
    id: '0027_document_costs',
    async up(schema) {
      // Milliseconds of a processor for the newest snapshot; 0 where it was never measured.
      await schema.addColumn('crdt_documents', 'open_ms', 'integer default 0')
    },
  },
]

const part = { seq: 'integer', part: 'integer', bytes: 'blob' } as const
const partKey = ['tenant_id', 'file_id', 'seq', 'part']

async function createLog(schema: MigrationSchema): Promise<void> {
  await schema.createTable(
    'crdt_updates',
    {
      tenant_id: 'integer',
      file_id: 'text',
      ...part,
      // Of the first part alone, as the following columns.
      writers: 'json null',
      // How many were merged.
      updates: 'integer default 0',
      // Set for what cannot be read: it is left out, and kept.
      quarantined_at: 'integer null',
    },
    { primaryKey: partKey },
  )
}

async function createHistory(schema: MigrationSchema): Promise<void> {
  await schema.createTable(
    'crdt_snapshots',
    {
      tenant_id: 'integer',
      file_id: 'text',
      seq: 'integer',
      created_at: 'integer',
      size: 'integer',
      writers: 'json',
      quarantined_at: 'integer null',
    },
    { primaryKey: ['tenant_id', 'file_id', 'seq'] },
  )
  await schema.createTable(
    'crdt_snapshot_parts',
    { tenant_id: 'integer', file_id: 'text', ...part },
    { primaryKey: partKey },
  )
}
