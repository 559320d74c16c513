import type { Migration, MigrationSchema } from '#infra/db/index.ts'
import { searchColumns } from './search-columns.ts'
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
      await eachIdentity(schema, ({ id_tag }) => ({ reversed_name: reversedName(id_tag) }))
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

/** What names and their addresses are found by. */
export const identitySearchMigrations: readonly Migration[] = [
  {
    id: '0061_managed_identity_search',
    async up(schema) {
      await schema.addColumn('managed_identities', 'search_name', "text default ''")
      await schema.addColumn('managed_identities', 'search_email', "text default ''")
      await eachIdentity(schema, ({ id_tag, email }) => searchColumns(id_tag, email ?? undefined))
    },
  },
]

interface ManagedRow {
  id_tag: string
  email: string | null
  reversed_name: string
  search_name: string
  search_email: string
}

const atOnce = 1000

async function eachIdentity(
  schema: MigrationSchema,
  change: (row: Pick<ManagedRow, 'id_tag' | 'email'>) => Partial<ManagedRow>,
): Promise<void> {
  const identities = () => schema.tables<{ managed_identities: ManagedRow }>()
  for (let after = ''; ; ) {
    const rows = await identities()
      .selectFrom('managed_identities')
      .select(['id_tag', 'email'])
      .where('id_tag', '>', after)
      .orderBy('id_tag')
      .limit(atOnce)
      .execute()
    for (const row of rows)
      await identities()
        .updateTable('managed_identities')
        .set(change(row))
        .where('id_tag', '=', row.id_tag)
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
