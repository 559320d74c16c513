import type { FileId } from '@kith/protocol'
import type { Writer } from '#infra/db/index.ts'
import { countBytes, type EngineDeps, type TransactionScope, withQuota } from './apply-transaction.ts'
import type { DatabaseKey } from './database.ts'
import { lockDatabase, updateDatabase } from './database-store.ts'
import { listRange, listSizes } from './document-list-store.ts'
import { assertDatabaseFits, entryBytes } from './document-writer.ts'
import { changeEntries, type FieldIndex, insertIndex, listIndexes, setBuiltTo } from './index-store.ts'
import { parsePath } from './paths.ts'
import { RtdbFailure } from './rtdb-failure.ts'
import { collectionKey, entryKeys } from './sort-keys.ts'
import { type JsonObject, memberOf } from './values.ts'

/** Of all collections of a database together: each write looks through them. */
const maxIndexes = 64
const maxFieldBytes = 256
// One transaction keeps others out for some milliseconds.
const portionDocuments = 200
const portionBytes = 256 * 1024

/** Makes an index of a top-level field of the documents of a collection, or finishes one that was begun. Answers when it
 * covers all of them. */
export async function createIndex(
  deps: EngineDeps,
  { tenantId, fileId }: DatabaseKey,
  input: { readonly path: string; readonly field: string },
): Promise<void> {
  const path = parsePath(input.path, 'collection').text
  assertField(input.field)
  const limits = await deps.limitsOf(tenantId)
  const build = async (tx: Writer) => {
    const scope = { ...deps, tx, fileId, limits }
    return buildPortion(scope, path, await findOrInsert(tx, { fileId, path, field: input.field }))
  }
  // NOTE: as in `applyTransaction`, the row of the database is locked first.
  const options = { isolation: 'read-committed', isBackground: true } as const
  await withQuota(async () => {
    while (!(await deps.db.transact(tenantId, build, options)));
  })
}

function assertField(field: string): void {
  if (
    typeof field !== 'string' ||
    field === '' ||
    Buffer.byteLength(field) > maxFieldBytes ||
    !field.isWellFormed()
  )
    throw new RtdbFailure(400, `A field that is indexed has 1 to ${maxFieldBytes} bytes`)
  if (field.includes('\0')) throw new RtdbFailure(400, 'A field that is indexed has no U+0000')
}

async function findOrInsert(
  tx: Writer,
  { fileId, path, field }: { readonly fileId: FileId; readonly path: string; readonly field: string },
): Promise<FieldIndex> {
  await lockDatabase(tx, fileId)
  const indexes = await listIndexes(tx, fileId)
  const collection = collectionKey(path)
  const known = indexes.find((index) => index.collection === collection && index.field === field)
  if (known) return known
  if (indexes.length >= maxIndexes) throw new RtdbFailure(413, `A database has at most ${maxIndexes} indexes`)
  const index = { indexNo: (indexes.at(-1)?.indexNo ?? 0) + 1, collection, field, builtTo: '' }
  await insertIndex(tx, fileId, index)
  return index
}

/** Writes the entries of the documents that come next; true when there are no more. */
async function buildPortion(scope: TransactionScope, path: string, index: FieldIndex): Promise<boolean> {
  if (index.builtTo === null) return true
  const { tx, fileId } = scope
  const { indexNo, field } = index
  const at = { fileId, path }
  const sizes = await listSizes(tx, at, { after: index.builtTo, limit: portionDocuments })
  const upTo = lastWithin(sizes)
  if (upTo === undefined) {
    await setBuiltTo(tx, fileId, { indexNo, builtTo: null })
    return true
  }
  let bytes = 0
  for (const { id, text } of await listRange(tx, at, { after: index.builtTo, upTo })) {
    const added = entryKeys(memberOf(JSON.parse(text) as JsonObject, field))
    await changeEntries(tx, { fileId, indexNo, id, removed: [], added })
    bytes += entryBytes(added, id)
  }
  await setBuiltTo(tx, fileId, { indexNo, builtTo: upTo })
  await addBytes(scope, bytes)
  return false
}

function lastWithin(sizes: readonly { readonly id: string; readonly size: number }[]): string | undefined {
  let last: string | undefined
  let bytes = 0
  for (const { id, size } of sizes) {
    bytes += size
    if (last !== undefined && bytes > portionBytes) break
    last = id
  }
  return last
}

async function addBytes(scope: TransactionScope, added: number): Promise<void> {
  const state = await lockDatabase(scope.tx, scope.fileId)
  const bytes = state.bytes + added
  assertDatabaseFits(bytes)
  const countedBytes = await countBytes(scope, bytes, state.countedBytes)
  await updateDatabase(scope.tx, scope.fileId, { ...state, bytes, countedBytes })
}
