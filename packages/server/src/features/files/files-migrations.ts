import type { Migration } from '#infra/db/index.ts'

export const filesMigrations: readonly Migration[] = [
  {
    id: '0600_files',
    async up(schema) {
      await schema.createTable(
        'files',
        {
          tenant_id: 'integer',
          file_id: 'text',
          file_tp: 'text',
          status: 'text',
          owner_tag: 'text',
          preset: 'text',
          file_name: 'text',
          content_type: 'text',
          size: 'integer',
          blob_hash: 'text null',
          sha256: 'text',
          salt: 'text',
          parent_id: 'text null',
          visibility: 'text null',
          tags: 'json',
          processing_error: 'text null',
          created_at: 'integer',
        },
        { primaryKey: ['tenant_id', 'file_id'] },
      )
      await schema.createTable(
        'file_variants',
        {
          tenant_id: 'integer',
          file_id: 'text',
          variant: 'text',
          blob_hash: 'text',
          width: 'integer',
          height: 'integer',
          size: 'integer',
          format: 'text',
        },
        {
          primaryKey: ['tenant_id', 'file_id', 'variant'],
          foreignKeys: [
            {
              columns: ['tenant_id', 'file_id'],
              references: 'files',
              on: ['tenant_id', 'file_id'],
              onDelete: 'cascade',
            },
          ],
        },
      )
      await schema.createTable(
        'blobs',
        { tenant_id: 'integer', blob_hash: 'text', size: 'integer', uses: 'integer' },
        { primaryKey: ['tenant_id', 'blob_hash'] },
      )
      await schema.createTable(
        'storage_usage',
        { tenant_id: 'integer', used_bytes: 'integer', files: 'integer' },
        { primaryKey: ['tenant_id'] },
      )
      await schema.createTable(
        'storage_reservations',
        { tenant_id: 'integer', reservation_id: 'text', bytes: 'integer', expires_at: 'integer' },
        { primaryKey: ['tenant_id', 'reservation_id'] },
      )
    },
  },
]
