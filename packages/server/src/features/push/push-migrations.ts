import type { Migration } from '#infra/db/index.ts'

export const pushMigrations: readonly Migration[] = [
  {
    id: '0019_push',
    up: (schema) =>
      schema.createTable(
        'vapid_keys',
        { tenant_id: 'integer', public_key: 'text', private_key_sealed: 'blob', created_at: 'integer' },
        { primaryKey: ['tenant_id'] },
      ),
  },
]

export const pushSubscriptionsMigrations: readonly Migration[] = [
  {
    id: '0026_push_subscriptions',
    async up(schema) {
      await schema.createTable(
        'push_subscriptions',
        {
          subscription_id: 'autoincrement',
          tenant_id: 'integer',
          subscriber_tag: 'text',
          sid: 'text',
          endpoint_hash: 'text',
          target_sealed: 'blob',
          expires_at: 'integer null',
          created_at: 'integer',
        },
        { unique: [['tenant_id', 'endpoint_hash']] },
      )
      await schema.createIndex('push_subscriptions_sid', 'push_subscriptions', ['tenant_id', 'sid'])
    },
  },
]
