import type { Migration } from '#infra/db/index.ts'

export const exportsMigrations: readonly Migration[] = [
  {
    id: '0044_exports',
    async up(schema) {
      await schema.createTable(
        'exports',
        {
          tenant_id: 'integer',
          // The ticket that opens the next download, and the session that it was given to.
          ticket_hash: 'text null',
          ticket_sid: 'text null',
          ticket_until: 'integer null',
          // The download that was begun last.
          run_id: 'text null',
          started_at: 'integer null',
          alive_until: 'integer null',
          ended_at: 'integer null',
          outcome: 'text null',
          sent_bytes: 'integer',
          // How many were begun since a time.
          counted_from: 'integer',
          counted: 'integer',
        },
        { primaryKey: ['tenant_id'] },
      )
    },
  },
]
