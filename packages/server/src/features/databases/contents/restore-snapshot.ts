import type { FileId, IdTag } from '@kith/protocol'
import type { StorageLimits } from '#features/files/index.ts'
import type { Writer } from '#infra/db/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { commitChanges, type EngineDeps } from '../engine/apply-transaction.ts'
import type { DatabaseKey, LoggedChanges } from '../engine/database.ts'
import { lockDatabase } from '../engine/database-store.ts'
import { DocumentWriter } from '../engine/document-writer.ts'
import { listIndexes } from '../engine/index-store.ts'
import { parsePath, type RtdbPath } from '../engine/paths.ts'
import { type DocumentPlace, listPlaced, type PlacedDocument } from '../engine/placed-documents-store.ts'
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

// Other writers wait for each transaction: a bound on its documents, before and after.
const documentsAtOnce = 400
const bytesAtOnce = 4 * 1024 ** 2
// With index entries, of which a document may have many.
const workBytesAtOnce = 8 * 1024 ** 2

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
          // These documents were within the bound when they were written; portions bound the work here.
          isUnbounded: true,
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
  const pairs = pairsOf(present, wanted).filter(({ place }) => !upTo || !isBehindPlace(place, upTo))
  for (const [index, { place, there, wanted: it }] of pairs.entries()) {
    const path = it?.path ?? parsePath(`${there?.collectionPath}/${there?.id}`, 'document')
    const before = there && { data: JSON.parse(there.text) as JsonObject, size: there.size }
    await writer.write(path, before, it?.data)
    if (writer.workBytes > workBytesAtOnce && index < pairs.length - 1) return place
  }
  return upTo
}

/** What is there and what is to be there at one place. */
interface Pair {
  readonly place: DocumentPlace
  readonly there?: PlacedDocument
  readonly wanted?: Wanted
}

/** Both lists together, in the order of their places. */
function pairsOf(present: readonly PlacedDocument[], wanted: readonly Wanted[]): Pair[] {
  const pairs = new Map<string, Pair>()
  for (const there of present) pairs.set(placeText(there.place), { place: there.place, there })
  for (const it of wanted) {
    const known = pairs.get(placeText(it.place))
    pairs.set(placeText(it.place), { ...known, place: it.place, wanted: it })
  }
  return [...pairs.values()].sort((a, b) => comparePlaces(a.place, b.place))
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
