import type { Migration } from '#infra/db/index.ts'

export const settingsMigrations: readonly Migration[] = [
  {
    id: '0017_settings',
    async up(schema) {
      await schema.createTable(
        'settings',
        {
          // Values for every tenant stand under the server's own number.
          tenant_id: 'integer',
          name: 'text',
          // JSON text; sealed instead where the setting is a secret.
          value: 'text null',
          value_sealed: 'blob null',
          is_free: 'integer',
          bytes: 'integer',
          updated_at: 'integer',
        },
        { primaryKey: ['tenant_id', 'name'] },
      )
    },
  },
]
