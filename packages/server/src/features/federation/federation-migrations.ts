import type { Migration, MigrationSchema } from '#infra/db/index.ts'

export const federationMigrations: readonly Migration[] = [
  {
    id: '0013_federation',
    async up(schema) {
      await createIdentities(schema)
      await createDomainBlocks(schema)
      await createWaitingTokens(schema)
      await createFanOuts(schema)
    },
  },
]

async function createIdentities(schema: MigrationSchema): Promise<void> {
  await schema.createTable(
    'identities',
    {
      tenant_id: 'integer',
      id_tag: 'text',
      server: 'text',
      inbox_url: 'text',
      document: 'json',
      etag: 'text null',
      fetched_at: 'integer',
      expires_at: 'integer',
    },
    { primaryKey: ['tenant_id', 'id_tag'] },
  )
  await schema.createIndex('identities_expiry', 'identities', ['tenant_id', 'expires_at'])
}

async function createDomainBlocks(schema: MigrationSchema): Promise<void> {
  await schema.createTable(
    'domain_blocks',
    {
      tenant_id: 'integer',
      domain: 'text',
      reason: 'text null',
      created_by: 'text',
      created_at: 'integer',
    },
    { primaryKey: ['tenant_id', 'domain'] },
  )
}

async function createWaitingTokens(schema: MigrationSchema): Promise<void> {
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
}

/** Fan-outs of actions with many recipients; a row is removed with its last portion. */
async function createFanOuts(schema: MigrationSchema): Promise<void> {
  await schema.createTable('fan_outs', {
    fan_out_id: 'autoincrement',
    tenant_id: 'integer',
    // Fan-outs of one lane run one after the other.
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
    // 1 for endings.
    is_ending: 'integer',
    // The last member of the circle that a portion has reached.
    after_tag: 'text',
  })
  await schema.createIndex('fan_outs_lane', 'fan_outs', ['tenant_id', 'lane', 'fan_out_id'])
  await schema.createIndex('fan_outs_action', 'fan_outs', ['tenant_id', 'action_id'])
}
