import type { Migration } from '#infra/db/index.ts'

/** What is still to be handed out of actions with many recipients: a row goes when its last portion is written. */
export const fanOutMigrations: readonly Migration[] = [
  {
    id: '1310_fan_outs',
    async up(schema) {
      await schema.createTable('fan_outs', {
        fan_out_id: 'autoincrement',
        tenant_id: 'integer',
        // Fan-outs of one lane are handed out one after the other.
        lane: 'text',
        action_id: 'text',
        issuer_tag: 'text',
        // The action whose counts it tells.
        counts_of: 'text null',
        named: 'json',
        circle: 'text null',
        left_out: 'json',
        // Unix seconds.
        not_before: 'integer null',
        // 1 for the word that something has ended.
        is_ending: 'integer',
        // The last of the circle that a portion has reached.
        after_tag: 'text',
      })
      await schema.createIndex('fan_outs_lane', 'fan_outs', ['tenant_id', 'lane', 'fan_out_id'])
      await schema.createIndex('fan_outs_action', 'fan_outs', ['tenant_id', 'action_id'])
    },
  },
]
