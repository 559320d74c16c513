import type { Migration } from '#infra/db/index.ts'

export const waitingTokensMigrations: readonly Migration[] = [
  {
    id: '1020_waiting_tokens',
    async up(schema) {
      await schema.createTable(
        'waiting_tokens',
        {
          tenant_id: 'integer',
          token_hash: 'text',
          domain: 'text',
          sender: 'text',
          bytes: 'integer',
          received_at: 'integer',
        },
        { primaryKey: ['tenant_id', 'token_hash'] },
      )
      await schema.createIndex('waiting_tokens_by_domain', 'waiting_tokens', ['tenant_id', 'domain', 'bytes'])
      await schema.createIndex('waiting_tokens_by_sender', 'waiting_tokens', ['tenant_id', 'sender', 'bytes'])
      await schema.createIndex('waiting_tokens_by_time', 'waiting_tokens', ['tenant_id', 'received_at'])
    },
  },
]
