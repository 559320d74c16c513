import { sql } from 'kysely'
import type { Migration } from '#infra/db/index.ts'
import type { TenantTables } from './tenant-store.ts'

export const tenantTableMigrations: readonly Migration[] = [
  {
    id: '0010_tenants',
    async up(schema) {
      await schema.createTable(
        'tenants',
        {
          tenant_id: 'autoincrement',
          id_tag: 'text',
          type: 'text',
          app_domain: 'text null',
          owner_tag: 'text null',
          is_base: 'boolean default 0',
          suspended_at: 'integer null',
          created_at: 'integer',
          // Tells a sign-in that was checked before everything was ended from one that was checked after.
          sign_in_epoch: 'integer default 0',
        },
        { unique: [['id_tag'], ['app_domain']] },
      )
      await schema.createIndex('tenants_base', 'tenants', ['is_base'], { unique: true, where: 'is_base = 1' })
      await schema.createTable(
        'server_admins',
        { tenant_id: 'integer', id_tag: 'text', appointed_at: 'integer' },
        { primaryKey: ['tenant_id', 'id_tag'] },
      )
    },
  },
]

export const hostedSinceMigrations: readonly Migration[] = [
  {
    id: '0048_hosted_since',
    async up(schema) {
      await schema.addColumn('tenants', 'hosted_since', 'integer default 0')
      const created = sql<number>`created_at`
      await schema.tables<TenantTables>().updateTable('tenants').set({ hosted_since: created }).execute()
    },
  },
]

export const underWayMigrations: readonly Migration[] = [
  {
    id: '0054_tenants_under_way',
    up: (schema) => schema.addColumn('tenants', 'under_way', 'text null'),
  },
]

export const tenantsMigrations: readonly Migration[] = [
  ...tenantTableMigrations,
  ...hostedSinceMigrations,
  ...underWayMigrations,
]
