import type { Migration } from '#infra/db/index.ts'

export const statisticsMigrations: readonly Migration[] = [
  {
    id: '0052_statistics',
    async up(schema) {
      await schema.createTable(
        'daily_statistics',
        {
          // From the first of 1970 (UTC).
          day: 'integer',
          active_people: 'integer',
          people: 'integer',
          communities: 'integer',
          actions: 'integer',
          used_bytes: 'integer',
          files: 'integer',
          sockets: 'integer',
        },
        { primaryKey: ['day'] },
      )
      await schema.createTable(
        'socket_reports',
        { node_id: 'text', sockets: 'integer', reported_at: 'integer' },
        { primaryKey: ['node_id'] },
      )
    },
  },
]
