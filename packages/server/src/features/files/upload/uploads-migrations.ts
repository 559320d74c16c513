import type { Migration } from '#infra/db/index.ts'

export const uploadsMigrations: readonly Migration[] = [
  {
    id: '0900_uploads',
    async up(schema) {
      await schema.createTable(
        'uploads',
        {
          tenant_id: 'integer',
          upload_id: 'text',
          creator_tag: 'text',
          length: 'integer',
          metadata: 'text',
          reservation_id: 'text',
          upload_offset: 'integer',
          expires_at: 'integer',
          file_id: 'text null',
        },
        { primaryKey: ['tenant_id', 'upload_id'] },
      )
      await schema.createIndex('uploads_expiry', 'uploads', ['expires_at'])
    },
  },
]
