import type { Migration, MigrationSchema } from '#infra/db/index.ts'

export const idpMigrations: readonly Migration[] = [
  {
    id: '0022_idp',
    async up(schema) {
      await createManagedIdentities(schema)
      await createReleasedIdentities(schema)
      await createIdentityKeys(schema)
    },
  },
]

async function createManagedIdentities(schema: MigrationSchema): Promise<void> {
  await schema.createTable(
    'managed_identities',
    {
      tenant_id: 'integer',
      id_tag: 'text',
      label: 'text',
      email: 'text null',
      registrar_tag: 'text',
      owner_tag: 'text null',
      address: 'text null',
      address_updated_at: 'integer null',
      status: 'text',
      dyndns: 'boolean default 0',
      created_at: 'integer',
      updated_at: 'integer',
      expires_at: 'integer',
      last_seen_at: 'integer null',
    },
    // Two providers of one server, one below the other, must not both give a name.
    { primaryKey: ['tenant_id', 'id_tag'], unique: [['id_tag']] },
  )
  const index = (name: string, ...columns: string[]) =>
    schema.createIndex(`managed_identities_${name}`, 'managed_identities', ['tenant_id', ...columns])
  await index('by_label', 'label')
  await index('by_time', 'created_at', 'id_tag')
  await index('by_registrar', 'registrar_tag', 'created_at', 'id_tag')
  await index('by_owner', 'owner_tag', 'created_at', 'id_tag')
  await schema.createIndex('managed_identities_by_end', 'managed_identities', ['expires_at'], {
    where: "status <> 'suspended'",
  })
}

async function createReleasedIdentities(schema: MigrationSchema): Promise<void> {
  await schema.createTable(
    'released_identities',
    { tenant_id: 'integer', id_tag: 'text', registrar_tag: 'text null', until: 'integer' },
    { primaryKey: ['tenant_id', 'id_tag'] },
  )
  await schema.createIndex('released_identities_by_end', 'released_identities', ['until'])
  await schema.createIndex('released_identities_by_name', 'released_identities', ['id_tag'])
}

async function createIdentityKeys(schema: MigrationSchema): Promise<void> {
  await schema.createTable(
    'identity_keys',
    {
      key_id: 'autoincrement',
      tenant_id: 'integer',
      id_tag: 'text',
      key_hash: 'text',
      key_prefix: 'text',
      name: 'text null',
      created_at: 'integer',
      last_used_at: 'integer null',
      expires_at: 'integer null',
    },
    {
      unique: [['tenant_id', 'key_hash']],
      foreignKeys: [
        {
          columns: ['tenant_id', 'id_tag'],
          references: 'managed_identities',
          on: ['tenant_id', 'id_tag'],
          onDelete: 'cascade',
        },
      ],
    },
  )
  await schema.createIndex('identity_keys_by_identity', 'identity_keys', ['tenant_id', 'id_tag'])
}
