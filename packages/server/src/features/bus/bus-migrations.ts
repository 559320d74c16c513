import type { Migration } from '#infra/db/index.ts'

/** The events of tenants whose clients listen, for those of them that come back. */
export const busMigrations: readonly Migration[] = [
  {
    id: '0018_bus',
    async up(schema) {
      await schema.createTable(
        'bus_logs',
        { tenant_id: 'integer', last_seq: 'integer', wanted_until: 'integer' },
        { primaryKey: ['tenant_id'] },
      )
      await schema.createTable('bus_events', {
        event_id: 'autoincrement',
        tenant_id: 'integer',
        seq: 'integer null',
        at: 'integer',
        notice: 'json',
      })
      await schema.createIndex('bus_events_by_seq', 'bus_events', ['tenant_id', 'seq'], {
        unique: true,
        where: 'seq is not null',
      })
      await schema.createIndex('bus_events_unnumbered', 'bus_events', ['tenant_id', 'event_id'], {
        where: 'seq is null',
      })
      // Those of all tenants by their age.
      await schema.createIndex('bus_events_age', 'bus_events', ['at'])
    },
  },
]
