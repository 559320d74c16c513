import type { Migration } from '#infra/db/index.ts'
import { hasEnd } from './subscription-sweep-store.ts'

export const pushSweepMigrations: readonly Migration[] = [
  {
    id: '0053_push_sweep',
    up: (schema) =>
      schema.createIndex('push_subscriptions_expired', 'push_subscriptions', ['expires_at'], {
        where: hasEnd,
      }),
  },
]
