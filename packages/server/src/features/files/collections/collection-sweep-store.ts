import { deletionOf } from '#infra/db/index.ts'

// Word for word as in the index.
export const isOpened = "collection = 'RCNT'"

/** NOTE: over all tenants. */
export const deleteOldReads = deletionOf({
  table: 'collection_items',
  key: ['tenant_id', 'id_tag', 'collection', 'item_id'],
  time: 'added_at',
  where: isOpened,
})
