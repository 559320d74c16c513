import { type CollectionType, type FileId, type IdTag, parseActionId, parseFileId } from '@kith/protocol'
import type { Identified, Tenant } from '#infra/caller/index.ts'
import type { Database, Writer } from '#infra/db/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { Failure, invalid } from '#lib/failure.ts'
import { findFileViewer } from '../access/find-file-viewer.ts'
import { assertNotTrashed, getFile } from '../access/read-file.ts'
import {
  findUserData,
  isReadableAction,
  putItem,
  removeItem,
  type StoredItem,
  type UserData,
} from './collection-store.ts'

export interface CollectionDeps {
  readonly db: Database
  readonly clock: Clock
}

interface ItemInput {
  readonly tenant: Tenant
  readonly caller: Identified
  readonly collection: CollectionType
  readonly itemId: string
}

/** Puts something that the caller may read into one of its collections; what is there keeps its time. */
export async function addToCollection(deps: CollectionDeps, input: ItemInput): Promise<StoredItem> {
  const { tenant, caller, collection, itemId } = input
  if (collection === 'RCNT') throw invalid('/params/collType', 'the server itself keeps this collection')
  await assertReadable(deps, input)
  const now = nowSecs(deps.clock)
  const item = { idTag: caller.idTag, collection, itemId }
  const addedAt = await deps.db.transact(tenant.tenantId, (tx) => putItem(tx, item, now))
  return { itemId, addedAt }
}

/** Takes something out of a collection of the caller's; what is not there is no failure. */
export async function removeFromCollection(deps: CollectionDeps, input: ItemInput): Promise<void> {
  const { tenant, caller, collection, itemId } = input
  await deps.db.transact(tenant.tenantId, (tx) => removeItem(tx, { idTag: caller.idTag, collection, itemId }))
}

async function assertReadable(deps: CollectionDeps, input: ItemInput): Promise<void> {
  const { tenant, caller, collection, itemId } = input
  const fileId = parseFileId(itemId)
  if (fileId) {
    await getFile(deps, { tenant, caller, fileId })
    return
  }
  const actionId = parseActionId(itemId)
  if (!actionId) throw new Failure('E-NOTFOUND')
  if (collection !== 'BKMK') throw invalid('/params/itemId', 'only bookmarks may be actions')
  const reader = deps.db.reader(tenant.tenantId)
  const now = nowSecs(deps.clock)
  const who = await findFileViewer(reader, { tenant, caller, now })
  if (!(await isReadableAction(reader, who, { actionId, now }))) throw new Failure('E-ACTION-NOTFOUND')
}

interface UserDataChange {
  readonly tenant: Tenant
  readonly caller: Identified
  readonly fileId: FileId
  readonly isPinned: boolean | undefined
  readonly isStarred: boolean | undefined
}

/** Pins or stars a file for the caller alone. */
export async function changeUserData(deps: CollectionDeps, change: UserDataChange): Promise<UserData> {
  const { tenant, caller, fileId, isPinned, isStarred } = change
  assertNotTrashed((await getFile(deps, change)).file)
  const now = nowSecs(deps.clock)
  return await deps.db.transact(tenant.tenantId, async (tx) => {
    const { idTag } = caller
    await set(tx, { idTag, collection: 'PIND', itemId: fileId }, isPinned, now)
    await set(tx, { idTag, collection: 'FAVR', itemId: fileId }, isStarred, now)
    return await findUserData(tx, idTag, fileId)
  })
}

async function set(
  tx: Writer,
  item: { readonly idTag: IdTag; readonly collection: CollectionType; readonly itemId: FileId },
  isIn: boolean | undefined,
  now: number,
): Promise<void> {
  if (isIn === true) await putItem(tx, item, now)
  if (isIn === false) await removeItem(tx, item)
}
