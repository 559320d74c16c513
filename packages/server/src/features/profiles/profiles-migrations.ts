import type { Migration } from '#infra/db/index.ts'

export const profilesMigrations: readonly Migration[] = [
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
