import type { Migration } from '#infra/db/index.ts'
import { hasEnded } from './relation-sweep-store.ts'

export const relationTableMigrations: readonly Migration[] = [
  {
    id: '0014_relations',
    async up(schema) {
      await schema.createTable(
        'relations',
        {
          tenant_id: 'integer',
          id_tag: 'text',
          following: 'boolean default 0',
          follower: 'boolean default 0',
          connection: "text default 'disconnected'",
          blocked: 'boolean default 0',
          muted: 'boolean default 0',
          role: 'text null',
          // Was a follower or connection at some time, and so may hold what the tenant published.
          reached: 'boolean default 0',
          updated_at: 'integer',
          // Derived from the columns above, for the indexes: SQLite recognizes partial indexes by plain conditions
          // only.
          in_circle: 'boolean default 0',
          is_source: 'boolean default 0',
          is_blocked_or_muted: 'boolean default 0',
          // Decisions of administrators: for their community or, in rows of the server's own tenant, for all tenants.
          standing: 'text null',
          standing_until: 'integer null',
          standing_reason: 'text null',
        },
        { primaryKey: ['tenant_id', 'id_tag'], clustered: true },
      )
      await schema.createIndex('relations_circle', 'relations', ['tenant_id', 'id_tag', 'connection'], {
        where: 'in_circle = 1',
      })
      await schema.createIndex('relations_reached', 'relations', ['tenant_id', 'id_tag'], {
        where: 'reached = 1',
      })
      await schema.createIndex('relations_sources', 'relations', ['id_tag', 'tenant_id'], {
        where: 'is_source = 1',
      })
      await schema.createIndex('relations_blocked_or_muted', 'relations', ['tenant_id', 'id_tag'], {
        where: 'is_blocked_or_muted = 1',
      })
      await schema.createIndex('relations_leaders', 'relations', ['id_tag', 'tenant_id'], {
        where: "role = 'leader'",
      })
      await schema.createIndex('relations_ended', 'relations', ['reached', 'updated_at'], { where: hasEnded })
      await schema.createIndex('relations_by_identity', 'relations', ['id_tag'])
    },
  },
]

export const claimedRolesMigrations: readonly Migration[] = [
  {
    id: '0047_claimed_roles',
    // The role that an import says an identity has: it gets it when the two are connected again.
    up: (schema) => schema.addColumn('relations', 'claimed_role', 'text null'),
  },
]

export const relationsMigrations: readonly Migration[] = [
  ...relationTableMigrations,
  ...claimedRolesMigrations,
]
