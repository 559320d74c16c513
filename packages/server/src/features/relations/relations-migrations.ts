import type { Migration } from '#infra/db/index.ts'
import { hasEnded } from './relation-sweep-store.ts'

export const relationsMigrations: readonly Migration[] = [
  {
    id: '0200_relations',
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
          // What follows from the above, for the indexes: SQLite finds partial ones by plain conditions alone.
          in_circle: 'boolean default 0',
          is_source: 'boolean default 0',
          is_hushed: 'boolean default 0',
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
      await schema.createIndex('relations_hushed', 'relations', ['tenant_id', 'id_tag'], {
        where: 'is_hushed = 1',
      })
    },
  },
]

/** What administrators decide about identities, for their community or, in rows of the server's tenant, for all. */
export const standingMigrations: readonly Migration[] = [
  {
    id: '0900_standings',
    async up(schema) {
      await schema.addColumn('relations', 'standing', 'text null')
      await schema.addColumn('relations', 'standing_until', 'integer null')
      await schema.addColumn('relations', 'standing_reason', 'text null')
    },
  },
]

/** Whom nobody can do without. */
export const leadersMigrations: readonly Migration[] = [
  {
    id: '1240_leaders',
    async up(schema) {
      await schema.createIndex('relations_leaders', 'relations', ['id_tag', 'tenant_id'], {
        where: "role = 'leader'",
      })
    },
  },
]

/** Relations that have ended, by when, and everybody's with one identity. */
export const relationEndsMigrations: readonly Migration[] = [
  {
    id: '1560_relation_ends',
    async up(schema) {
      await schema.createIndex('relations_ended', 'relations', ['reached', 'updated_at'], { where: hasEnded })
      await schema.createIndex('relations_by_identity', 'relations', ['id_tag'])
    },
  },
]
