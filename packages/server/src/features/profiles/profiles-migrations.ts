import type { Migration } from '#infra/db/index.ts'

export const profilesMigrations: readonly Migration[] = [
  {
    id: '0210_profiles',
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
        },
        { primaryKey: ['tenant_id', 'id_tag'], unique: [['id_tag']] },
      )
    },
  },
]

/** Profiles of other servers by when a sweep looks at them again. */
export const profileSweepMigrations: readonly Migration[] = [
  {
    id: '1570_profile_sweep',
    async up(schema) {
      await schema.addColumn('profiles', 'look_at', 'integer default 0')
      await schema.createIndex('profiles_look', 'profiles', ['tenant_id', 'look_at'])
    },
  },
]
