import type { FileId, IdTag } from '@kith/protocol'
import type { StorageLimits } from '#features/files/index.ts'
import type { Writer } from '#infra/db/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { commitChanges, type EngineDeps } from '../engine/apply-transaction.ts'
import type { DatabaseKey, LoggedChanges } from '../engine/database.ts'
import { lockDatabase } from '../engine/database-store.ts'
import { type DocumentPlace, listPlaced } from '../engine/document-store.ts'
import { DocumentWriter } from '../engine/document-writer.ts'
import { listIndexes } from '../engine/index-store.ts'
import { parsePath, type RtdbPath } from '../engine/paths.ts'
import { collectionKey, compareKept, sortableText } from '../engine/sort-keys.ts'
import type { JsonObject } from '../engine/values.ts'
import { beforeAll, type LineDocument } from './document-lines.ts'

/** What is to come back. */
export interface RestoreInput extends DatabaseKey {
  readonly by: IdTag | undefined
  readonly limits: StorageLimits
  /** Documents in the order of their keys. */
  readonly documents: AsyncIterable<readonly LineDocument[]>
}

interface Wanted {
  readonly path: RtdbPath
  readonly place: DocumentPlace
  readonly data: JsonObject
  readonly size: number
}

// One transaction keeps others out for so many documents, those that are there and those that come.
const documentsAtOnce = 400
const bytesAtOnce = 4 * 1024 ** 2

/** Makes the documents what they were, in portions where they are many: each is a change on top of what is there. Answers
 * the number of the last. */
export async function restoreDocuments(
  deps: EngineDeps & { readonly onChanged: (key: DatabaseKey, changed: LoggedChanges) => void },
  { tenantId, fileId, by, limits, documents }: RestoreInput,
): Promise<number> {
  const options = { isolation: 'read-committed' } as const
  let after = beforeAll
  let seq = 0
  let waiting: Wanted[] = []
  const restore = async (isLast: boolean) => {
    const wanted = firstOf(waiting)
    const portion = { fileId, after, wanted, isLast: isLast && wanted.length === waiting.length }
    const done = await deps.db.transact(
      tenantId,
      async (tx) => {
        const state = await lockDatabase(tx, fileId)
        const writer = new DocumentWriter(tx, {
          fileId,
          now: nowSecs(deps.clock),
          indexes: await listIndexes(tx, fileId),
        })
        const upTo = await writePortion(tx, writer, portion)
        const number = await commitChanges({ ...deps, tx, fileId, limits }, state, { writer, account: by })
        return { upTo, seq: number, changes: writer.changes }
      },
      options,
    )
    seq = done.seq
    if (done.changes.length > 0) deps.onChanged({ tenantId, fileId }, done)
    const { upTo } = done
    if (upTo) {
      after = upTo
      waiting = waiting.filter(({ place }) => isBehindPlace(place, upTo))
    }
    return upTo === undefined
  }
  for await (const piece of documents) {
    waiting.push(...piece.map(wantedOf))
    while (firstOf(waiting).length < waiting.length) await restore(false)
  }
  while (!(await restore(true)));
  return seq
}

/** Those that one transaction writes: a large one by itself. */
function firstOf(waiting: readonly Wanted[]): readonly Wanted[] {
  let bytes = 0
  const end = waiting.findIndex(({ size }, index) => {
    bytes += size
    return index === documentsAtOnce || (index > 0 && bytes > bytesAtOnce)
  })
  return end < 0 ? waiting : waiting.slice(0, end)
}

interface Portion {
  readonly fileId: FileId
  readonly after: DocumentPlace
  readonly wanted: readonly Wanted[]
  /** Is nothing wanted behind these? */
  readonly isLast: boolean
}

/** Answers up to which place documents are restored; undefined when that was all. */
async function writePortion(
  tx: Writer,
  writer: DocumentWriter,
  { fileId, after, wanted, isLast }: Portion,
): Promise<DocumentPlace | undefined> {
  const present = await listPlaced(tx, fileId, { after, limit: documentsAtOnce, maxBytes: bytesAtOnce })
  const lastPresent = present.length > 0 ? present.at(-1)?.place : undefined
  const hasMore = lastPresent
    ? (await listPlaced(tx, fileId, { after: lastPresent, limit: 1, maxBytes: 1 })).length > 0
    : false
  const bounds = [isLast ? undefined : wanted.at(-1)?.place, hasMore ? lastPresent : undefined]
  const upTo = bounds.filter((it) => it !== undefined).toSorted(comparePlaces)[0]
  const isWithin = (place: DocumentPlace) => !upTo || !isBehindPlace(place, upTo)
  const gone = new Map(present.filter(({ place }) => isWithin(place)).map((it) => [placeText(it.place), it]))
  for (const { path, place, data } of wanted) {
    if (!isWithin(place)) continue
    const there = gone.get(placeText(place))
    gone.delete(placeText(place))
    await writer.write(path, there && { data: JSON.parse(there.text) as JsonObject, size: there.size }, data)
  }
  for (const { collectionPath, id, text, size } of gone.values()) {
    const path = parsePath(`${collectionPath}/${id}`, 'document')
    await writer.write(path, { data: JSON.parse(text) as JsonObject, size }, undefined)
  }
  return upTo
}

function wantedOf({ path: text, data }: LineDocument): Wanted {
  const path = parsePath(text, 'document')
  const place = { collection: collectionKey(path.parent), id: sortableText(path.id) }
  return { path, place, data, size: JSON.stringify(data).length }
}

function placeText({ collection, id }: DocumentPlace): string {
  return `${collection}\n${id}`
}

function isBehindPlace(place: DocumentPlace, other: DocumentPlace): boolean {
  return comparePlaces(place, other) > 0
}

function comparePlaces(a: DocumentPlace, b: DocumentPlace): number {
  return compareKept(a.collection, b.collection) || compareKept(a.id, b.id)
}
