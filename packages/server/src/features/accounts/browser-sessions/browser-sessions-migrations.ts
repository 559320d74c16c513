import type { Migration } from '#infra/db/index.ts'

export const browserSessionsMigrations: readonly Migration[] = [
  {
    id: '0036_browser_sessions',
    async up(schema) {
      await schema.createTable(
        'browser_sessions',
        {
          tenant_id: 'integer',
          cookie_id: 'text',
          sid: 'text',
          secret_hash: 'text',
          // JSON: the secrets of the last half minute.
          former: 'text',
          used_at: 'integer',
          expires_at: 'integer',
        },
        { primaryKey: ['tenant_id', 'cookie_id'] },
      )
      await schema.createIndex('browser_sessions_by_session', 'browser_sessions', ['tenant_id', 'sid'], {
        unique: true,
      })
      await schema.createIndex('browser_sessions_ended', 'browser_sessions', ['expires_at'])
    },
  },
]
