import {
  addToCollection as addContract,
  type CollectionItem,
  changeFileUserData,
  listCollection,
  removeFromCollection as removeContract,
  toIso,
} from '@kith/protocol'
import { bind, type Endpoint } from '#infra/http/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { findFileViewer } from '../access/find-file-viewer.ts'
import { userDataView } from '../file-view.ts'
import {
  addToCollection,
  type CollectionDeps,
  changeUserData,
  removeFromCollection,
} from './change-collection.ts'
import { listItemPage, listItemsFrom, type StoredItem } from './collection-store.ts'

export function collectionEndpoints(deps: CollectionDeps): Endpoint[] {
  return [
    bind(listCollection, async ({ tenant, caller, params, query }) => {
      const { limit = 20, cursor, offset } = query
      const reader = deps.db.reader(tenant.tenantId)
      const now = nowSecs(deps.clock)
      const who = await findFileViewer(reader, { tenant, caller, now })
      const listing = { idTag: caller.idTag, collection: params.collType, who, limit, now }
      const { items, ...page } =
        offset === undefined
          ? await listItemPage(reader, { ...listing, cursor })
          : await listItemsFrom(reader, { ...listing, offset })
      return { ...page, items: items.map(itemView) }
    }),
    bind(addContract, async ({ tenant, caller, params: { collType, itemId } }) =>
      itemView(await addToCollection(deps, { tenant, caller, collection: collType, itemId })),
    ),
    bind(removeContract, async ({ tenant, caller, params: { collType, itemId } }) => {
      await removeFromCollection(deps, { tenant, caller, collection: collType, itemId })
      return 'ok' as const
    }),
    bind(changeFileUserData, async ({ tenant, caller, params: { fileId }, body }) => {
      const { pinned: isPinned, starred: isStarred } = body
      return userDataView(await changeUserData(deps, { tenant, caller, fileId, isPinned, isStarred }))
    }),
  ]
}

function itemView({ itemId, addedAt }: StoredItem): CollectionItem {
  return { itemId, addedAt: toIso(addedAt) }
}
