import type { Migration } from '#infra/db/index.ts'
import { hasEnd, isUsedUp } from './reference-sweep-store.ts'

export const referencesMigrations: readonly Migration[] = [
  {
    id: '0130_references',
    async up(schema) {
      await schema.createTable(
        'refs',
        {
          tenant_id: 'integer',
          // The id is a secret that its maker must see again: found by its hash, shown from its sealed form.
          ref_hash: 'text',
          ref_sealed: 'blob',
          type: 'text',
          created_by: 'text null',
          description: 'text null',
          created_at: 'integer',
          expires_at: 'integer null',
          count: 'integer null',
          resource_id: 'text null',
          access_level: 'text null',
        },
        { primaryKey: ['tenant_id', 'ref_hash'] },
      )
      await schema.createIndex('refs_by_maker', 'refs', ['tenant_id', 'created_by', 'created_at'])
      await schema.createIndex('refs_by_resource', 'refs', ['tenant_id', 'resource_id'])
    },
  },
]

/** The references of all tenants that can be used no more, by when that was. */
export const referenceEndsMigrations: readonly Migration[] = [
  {
    id: '1520_reference_ends',
    async up(schema) {
      // When a sweep found it used up, or its session in use after that.
      await schema.addColumn('refs', 'used_up_at', 'integer null')
      await schema.createIndex('refs_used_up', 'refs', ['used_up_at'], { where: isUsedUp })
      await schema.createIndex('refs_expired', 'refs', ['expires_at'], { where: hasEnd })
    },
  },
]
