import type { Migration } from '#infra/db/index.ts'

export const visitsMigrations: readonly Migration[] = [
  {
    id: '0058_visits',
    async up(schema) {
      await schema.createTable(
        'visited_hosts',
        {
          tenant_id: 'integer',
          target: 'text',
          sid: 'text',
          // What the session is called there.
          name: 'text',
          visited_at: 'integer',
          // Of the session; null where it has no end.
          ends_at: 'integer null',
        },
        { primaryKey: ['tenant_id', 'target', 'sid'], clustered: true },
      )
      await schema.createIndex('visited_hosts_by_session', 'visited_hosts', ['tenant_id', 'sid'])
      await schema.createIndex('visited_hosts_ended', 'visited_hosts', ['ends_at'], {
        where: 'ends_at is not null',
      })
      await schema.createTable(
        'visitor_logouts',
        {
          tenant_id: 'integer',
          caller_tag: 'text',
          // What was issued up to then has ended; 0: nothing by its time.
          before: 'integer',
          // JSON: sessions of which all has ended, and when that was said.
          sessions: 'text',
          kept_until: 'integer',
        },
        { primaryKey: ['tenant_id', 'caller_tag'], clustered: true },
      )
      await schema.createIndex('visitor_logouts_ended', 'visitor_logouts', ['kept_until'])
    },
  },
]
