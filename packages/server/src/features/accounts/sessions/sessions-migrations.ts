import type { Migration } from '#infra/db/index.ts'
import { hasEnd, isRevoked } from './session-sweep-store.ts'

export const sessionsMigrations: readonly Migration[] = [
  {
    id: '0120_sessions',
    async up(schema) {
      await schema.createTable(
        'sessions',
        {
          tenant_id: 'integer',
          sid: 'text',
          caller_tag: 'text null',
          method: 'text',
          scope: 'text null',
          secret_hash: 'text null',
          secret_prefix: 'text null',
          label: 'text null',
          created_at: 'integer',
          signed_in_at: 'integer',
          last_used_at: 'integer',
          expires_at: 'integer null',
          ip: 'text',
          user_agent: 'text null',
          revoked_at: 'integer null',
        },
        { primaryKey: ['tenant_id', 'sid'] },
      )
      await schema.createIndex('sessions_by_secret', 'sessions', ['tenant_id', 'secret_hash'], {
        unique: true,
        where: 'secret_hash is not null',
      })
      await schema.createIndex('sessions_by_caller', 'sessions', ['tenant_id', 'caller_tag'])
      await schema.createIndex('sessions_revoked', 'sessions', ['tenant_id', 'revoked_at'], {
        where: 'revoked_at is not null',
      })
      await schema.createIndex('sessions_by_end', 'sessions', ['tenant_id', 'expires_at'])
    },
  },
]

/** With which session at home a visitor's session ends. */
export const homeSessionsMigrations: readonly Migration[] = [
  {
    id: '1200_home_sessions',
    async up(schema) {
      await schema.addColumn('sessions', 'home_sid', 'text null')
    },
  },
]

/** The sessions of all tenants by their end. */
export const sessionEndsMigrations: readonly Migration[] = [
  {
    id: '1510_session_ends',
    async up(schema) {
      await schema.createIndex('sessions_expired', 'sessions', ['expires_at'], { where: hasEnd })
      await schema.createIndex('sessions_ended', 'sessions', ['revoked_at'], { where: isRevoked })
    },
  },
]
