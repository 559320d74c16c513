import type { Migration } from '#infra/db/index.ts'

export const registrationMigrations: readonly Migration[] = [
  {
    id: '0016_registration',
    async up(schema) {
      await schema.createTable(
        'unfinished_registrations',
        { tenant_id: 'integer', person_id: 'integer', expires_at: 'integer' },
        { primaryKey: ['tenant_id', 'person_id'] },
      )
      await schema.createIndex('unfinished_registrations_by_end', 'unfinished_registrations', [
        'tenant_id',
        'expires_at',
        'person_id',
      ])
      await schema.createTable(
        'quarantined_names',
        { tenant_id: 'integer', name: 'text', until: 'integer' },
        { primaryKey: ['tenant_id', 'name'] },
      )
      await schema.createIndex('quarantined_names_by_end', 'quarantined_names', ['until'])
    },
  },
]
