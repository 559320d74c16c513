import type { Migration, MigrationSchema } from '#infra/db/index.ts'
import { searchNameOf } from './search-name.ts'

export const profileTableMigrations: readonly Migration[] = [
  {
    id: '0015_profiles',
    async up(schema) {
      // Profiles are public. A tenant owns its own; what is known of identities elsewhere belongs to the server.
      await schema.createTable(
        'profiles',
        {
          tenant_id: 'integer',
          id_tag: 'text',
          name: 'text',
          type: 'text',
          profile_pic: 'text null',
          cover_pic: 'text null',
          x: 'json null',
          created_at: 'integer',
          updated_at: 'integer',
          refreshed_at: 'integer null',
          etag: 'text null',
          // When a sweep looks at one of another server again.
          look_at: 'integer default 0',
        },
        { primaryKey: ['tenant_id', 'id_tag'], unique: [['id_tag']] },
      )
      await schema.createIndex('profiles_look', 'profiles', ['tenant_id', 'look_at'])
    },
  },
]

export const profileSearchMigrations: readonly Migration[] = [
  {
    id: '0035_profile_search',
    async up(schema) {
      await schema.addColumn('profiles', 'search_name', "text default ''")
      await fillSearchNames(schema)
    },
  },
]

/** Names are searched by another form from now on. */
export const profileFoldingMigrations: readonly Migration[] = [
  { id: '0059_profile_folding', up: fillSearchNames },
]

interface NamedTables {
  profiles: { id_tag: string; name: string; search_name: string }
}

async function fillSearchNames(schema: MigrationSchema): Promise<void> {
  for (let after: string | undefined = ''; after !== undefined; ) after = await fillSome(schema, after)
}

/** Answers the last identity of the portion. */
async function fillSome(schema: MigrationSchema, after: string): Promise<string | undefined> {
  const tables = schema.tables<NamedTables>()
  const rows = await tables
    .selectFrom('profiles')
    .select(['id_tag', 'name', 'search_name'])
    .where('id_tag', '>', after)
    .orderBy('id_tag')
    .limit(1_000)
    .execute()
  for (const { id_tag, name, search_name: former } of rows) {
    const search_name = searchNameOf({ idTag: id_tag, name })
    if (search_name !== former)
      await tables.updateTable('profiles').set({ search_name }).where('id_tag', '=', id_tag).execute()
  }
  return rows.at(-1)?.id_tag
}

export const profilesMigrations: readonly Migration[] = [
  ...profileTableMigrations,
  ...profileSearchMigrations,
  ...profileFoldingMigrations,
]
