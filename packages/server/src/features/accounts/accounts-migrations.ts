import type { Migration, MigrationSchema } from '#infra/db/index.ts'
import * as referenceSweep from './references/reference-sweep-store.ts'
import { neverUsed } from './sessions/session.ts'
import * as sessionSweep from './sessions/session-sweep-store.ts'

export const accountsMigrations: readonly Migration[] = [
  {
    id: '0012_accounts',
    async up(schema) {
      await createAccounts(schema)
      await createSessions(schema)
      await createReferences(schema)
      await createAttempts(schema)
      await createQrSessions(schema)
      await createPasskeys(schema)
    },
  },
]

async function createAccounts(schema: MigrationSchema): Promise<void> {
  await schema.createTable(
    'accounts',
    {
      tenant_id: 'integer',
      email: 'text null',
      email_verified_at: 'integer null',
      password_hash: 'text null',
      password_set_at: 'integer null',
      sw_key_sealed: 'blob',
      created_at: 'integer',
    },
    { primaryKey: ['tenant_id'] },
  )
}

async function createSessions(schema: MigrationSchema): Promise<void> {
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
      // With which session at home a visitor's session ends.
      home_sid: 'text null',
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
  // Those of all tenants, for sweeps.
  const { hasEnd, isRevoked } = sessionSweep
  await schema.createIndex('sessions_expired', 'sessions', ['expires_at'], { where: hasEnd })
  await schema.createIndex('sessions_ended', 'sessions', ['revoked_at'], { where: isRevoked })
}

async function createReferences(schema: MigrationSchema): Promise<void> {
  await schema.createTable(
    'refs',
    {
      tenant_id: 'integer',
      // The id is a secret that its maker must see again: found by its hash, shown from its sealed form.
      ref_hash: 'text',
      ref_sealed: 'blob',
      type: 'text',
      created_by: 'text null',
      description: 'text null',
      created_at: 'integer',
      expires_at: 'integer null',
      count: 'integer null',
      resource_id: 'text null',
      access_level: 'text null',
      // When a sweep found it used up, or its session in use after that.
      used_up_at: 'integer null',
    },
    { primaryKey: ['tenant_id', 'ref_hash'] },
  )
  await schema.createIndex('refs_by_maker', 'refs', ['tenant_id', 'created_by', 'created_at'])
  await schema.createIndex('refs_by_resource', 'refs', ['tenant_id', 'resource_id'])
  await schema.createIndex('refs_used_up', 'refs', ['used_up_at'], { where: referenceSweep.isUsedUp })
  await schema.createIndex('refs_expired', 'refs', ['expires_at'], { where: referenceSweep.hasEnd })
}

async function createAttempts(schema: MigrationSchema): Promise<void> {
  await schema.createTable(
    'attempt_buckets',
    // What people typed is part of the key, so only its hash is kept.
    { tenant_id: 'integer', key_hash: 'text', full_until_ms: 'integer' },
    { primaryKey: ['tenant_id', 'key_hash'], clustered: true },
  )
  await schema.createIndex('attempt_buckets_by_end', 'attempt_buckets', ['tenant_id', 'full_until_ms'])
  await schema.createIndex('attempt_buckets_ended', 'attempt_buckets', ['full_until_ms'])
}

async function createQrSessions(schema: MigrationSchema): Promise<void> {
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
      network: "text default ''",
      // The session in which it was approved: it ends with it.
      approved_in: 'text null',
    },
    { primaryKey: ['tenant_id', 'session_id'] },
  )
  await schema.createIndex('qr_sessions_by_end', 'qr_sessions', ['tenant_id', 'expires_at'])
  await schema.createIndex('qr_sessions_by_network', 'qr_sessions', ['tenant_id', 'network', 'created_at'])
  await schema.createIndex('qr_sessions_ended', 'qr_sessions', ['expires_at'])
}

async function createPasskeys(schema: MigrationSchema): Promise<void> {
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
  await schema.createIndex('passkey_challenges_ended', 'passkey_challenges', ['expires_at'])
}

interface KeyTables {
  sessions: { method: string; created_at: number; last_used_at: number }
}

/** Keys that were never used said until now that they were used when they were made. */
export const apiKeyUseMigrations: readonly Migration[] = [
  {
    id: '0034_api_key_use',
    async up(schema) {
      await schema
        .tables<KeyTables>()
        .updateTable('sessions')
        .set({ last_used_at: neverUsed })
        .where('method', '=', 'apikey')
        .whereRef('last_used_at', '=', 'created_at')
        .execute()
    },
  },
]
