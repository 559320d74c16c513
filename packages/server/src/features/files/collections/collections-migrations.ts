import type { Migration } from '#infra/db/index.ts'
import { isOpened } from './collection-sweep-store.ts'

export const collectionsMigrations: readonly Migration[] = [
  {
    id: '0630_collections',
    async up(schema) {
      await schema.createTable(
        'collection_items',
        { tenant_id: 'integer', id_tag: 'text', collection: 'text', item_id: 'text', added_at: 'integer' },
        { primaryKey: ['tenant_id', 'id_tag', 'collection', 'item_id'], clustered: true },
      )
      await schema.createIndex('collection_items_by_time', 'collection_items', [
        'tenant_id',
        'id_tag',
        'collection',
        'added_at',
        'item_id',
      ])
      await schema.createIndex('collection_items_by_item', 'collection_items', ['tenant_id', 'item_id'])
    },
  },
]

/** Who has opened which file at all tenants, by time. */
export const openedAgeMigrations: readonly Migration[] = [
  {
    id: '1590_opened_age',
    up: (schema) =>
      schema.createIndex('collection_items_opened', 'collection_items', ['added_at'], { where: isOpened }),
  },
]
