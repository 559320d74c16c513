import type { Migration, MigrationSchema } from '#infra/db/index.ts'
import { reversedName } from './zone/reversed-name.ts'

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

/** Names in the order of their labels from the right, so that what lies below one is found; and the serials of zones. */
export const zoneMigrations: readonly Migration[] = [
  {
    id: '0029_zones',
    async up(schema) {
      await schema.addColumn('managed_identities', 'reversed_name', "text default ''")
      await reverseNames(schema)
      await schema.createIndex('managed_identities_by_reversed_name', 'managed_identities', [
        'tenant_id',
        'reversed_name',
      ])
      await schema.createTable(
        'zone_serials',
        { tenant_id: 'integer', serial: 'integer' },
        { primaryKey: ['tenant_id'] },
      )
    },
  },
]

/** When a name without a sign of use is released. */
export const graceMigrations: readonly Migration[] = [
  {
    id: '0056_managed_identity_grace',
    up: (schema) => schema.addColumn('managed_identities', 'grace_ends_at', 'integer null'),
  },
]

const atOnce = 1000

async function reverseNames(schema: MigrationSchema): Promise<void> {
  const identities = () => schema.tables<{ managed_identities: { id_tag: string; reversed_name: string } }>()
  for (let after = ''; ; ) {
    const rows = await identities()
      .selectFrom('managed_identities')
      .select('id_tag')
      .where('id_tag', '>', after)
      .orderBy('id_tag')
      .limit(atOnce)
      .execute()
    for (const { id_tag: idTag } of rows)
      await identities()
        .updateTable('managed_identities')
        .set({ reversed_name: reversedName(idTag) })
        .where('id_tag', '=', idTag)
        .execute()
    const last = rows.at(-1)
    if (!last || rows.length < atOnce) return
    after = last.id_tag
  }
}

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
