import type { Migration } from '#infra/db/index.ts'

export const activityMigrations: readonly Migration[] = [
  {
    id: '0051_active_days',
    // The day on which a person was here last, counted from the first of 1970 (UTC).
    up: (schema) => schema.addColumn('accounts', 'active_day', 'integer null'),
  },
]
