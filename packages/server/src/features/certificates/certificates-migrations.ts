import type { Migration, MigrationSchema } from '#infra/db/index.ts'

export const certificatesMigrations: readonly Migration[] = [
  {
    id: '0032_certificates',
    async up(schema) {
      await createCertificates(schema)
      await createAcme(schema)
    },
  },
]

export const certificateAuthorityMigrations: readonly Migration[] = [
  {
    id: '0055_certificate_authority',
    up: (schema) => schema.addColumn('certificates', 'directory', 'text null'),
  },
]

async function createCertificates(schema: MigrationSchema): Promise<void> {
  await schema.createTable(
    'certificates',
    {
      name: 'text',
      tenant_id: 'integer',
      zone: 'text',
      chain: 'text null',
      sealed_key: 'blob null',
      version: 'integer',
      not_before: 'integer null',
      not_after: 'integer null',
      renew_at: 'integer',
      ask_at: 'integer null',
      order_url: 'text null',
      sealed_order_key: 'blob null',
      order_started_at: 'integer null',
      last_ordered_at: 'integer null',
      next_attempt_at: 'integer',
      failures: 'integer',
      failing_since: 'integer null',
      error_kind: 'text null',
      error_detail: 'text null',
      warned_stage: 'integer',
      unwanted_since: 'integer null',
      created_at: 'integer',
    },
    { primaryKey: ['name'] },
  )
  await schema.createIndex('certificates_due', 'certificates', ['renew_at'], {
    where: 'unwanted_since is null',
  })
}

async function createAcme(schema: MigrationSchema): Promise<void> {
  await schema.createTable(
    'acme_accounts',
    {
      directory: 'text',
      tenant_id: 'integer',
      sealed_key: 'blob',
      url: 'text null',
      created_at: 'integer',
    },
    { primaryKey: ['directory'] },
  )
  await schema.createTable(
    'acme_challenges',
    {
      token: 'text',
      tenant_id: 'integer',
      name: 'text',
      type: 'text',
      key_authorization: 'text',
      created_at: 'integer',
    },
    { primaryKey: ['token'] },
  )
  await schema.createIndex('acme_challenges_name', 'acme_challenges', ['name'])
}
