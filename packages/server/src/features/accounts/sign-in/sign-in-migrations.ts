import type { Migration } from '#infra/db/index.ts'

export const signInMigrations: readonly Migration[] = [
  {
    id: '0140_sign_in',
    async up(schema) {
      await schema.createTable(
        'attempt_buckets',
        // What people typed is part of the key, so only its hash is kept.
        { tenant_id: 'integer', key_hash: 'text', full_until_ms: 'integer' },
        { primaryKey: ['tenant_id', 'key_hash'], clustered: true },
      )
      await schema.createIndex('attempt_buckets_by_end', 'attempt_buckets', ['tenant_id', 'full_until_ms'])
      await schema.createTable(
        'qr_sessions',
        {
          tenant_id: 'integer',
          session_id: 'text',
          secret_hash: 'text',
          answer: 'text null',
          delivered: 'boolean',
          created_at: 'integer',
          expires_at: 'integer',
          ip: 'text',
          user_agent: 'text null',
        },
        { primaryKey: ['tenant_id', 'session_id'] },
      )
      await schema.createIndex('qr_sessions_by_end', 'qr_sessions', ['tenant_id', 'expires_at'])
      await schema.createTable(
        'passkeys',
        {
          tenant_id: 'integer',
          key_id: 'text',
          name: 'text',
          public_key: 'blob',
          counter: 'integer',
          transports: 'json',
          created_at: 'integer',
          last_used_at: 'integer null',
        },
        { primaryKey: ['tenant_id', 'key_id'] },
      )
      await schema.createTable(
        'passkey_challenges',
        { tenant_id: 'integer', challenge_hash: 'text', expires_at: 'integer' },
        { primaryKey: ['tenant_id', 'challenge_hash'] },
      )
      await schema.createIndex('passkey_challenges_by_end', 'passkey_challenges', ['tenant_id', 'expires_at'])
    },
  },
]

export const qrNetworksMigrations: readonly Migration[] = [
  {
    id: '1010_qr_networks',
    async up(schema) {
      // Sessions from before end within minutes, and count for no network.
      await schema.addColumn('qr_sessions', 'network', "text default ''")
      await schema.createIndex('qr_sessions_by_network', 'qr_sessions', [
        'tenant_id',
        'network',
        'created_at',
      ])
    },
  },
]

/** In which session a QR sign-in was approved: it ends with it. */
export const qrApprovalMigrations: readonly Migration[] = [
  {
    id: '1410_qr_approvals',
    up: (schema) => schema.addColumn('qr_sessions', 'approved_in', 'text null'),
  },
]

/** What is left of sign-ins at all tenants, by its end. */
export const signInEndsMigrations: readonly Migration[] = [
  {
    id: '1530_sign_in_ends',
    async up(schema) {
      await schema.createIndex('attempt_buckets_ended', 'attempt_buckets', ['full_until_ms'])
      await schema.createIndex('qr_sessions_ended', 'qr_sessions', ['expires_at'])
      await schema.createIndex('passkey_challenges_ended', 'passkey_challenges', ['expires_at'])
    },
  },
]
