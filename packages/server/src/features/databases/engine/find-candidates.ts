import type { FileId } from '@kith/protocol'
import type { Reader } from '#infra/db/index.ts'
import type { EventLoopTurns } from '#lib/event-loop-turns.ts'
import { listDocuments, listRange, listSizes, listSizesOf } from './document-list-store.ts'
import { readDocument } from './document-store.ts'
import type { CollectionKey } from './documents-predicate.ts'
import { type FieldIndex, findKeyBefore, type IndexEntry, listEntries } from './index-store.ts'
import { portionDocuments, portionsOf } from './portions.ts'
import type { KeyRange, QueryPlan } from './query-plan.ts'
import { isCutKey, sortableText } from './sort-keys.ts'
import type { ReadDocument } from './values.ts'

/** A document that may pass, with the bytes of its JSON. */
export interface Candidate {
  readonly document: ReadDocument
  readonly size: number
}

/** What candidates are read with. */
export interface CandidateSource {
  readonly reader: Reader
  readonly at: CollectionKey
  readonly turns: EventLoopTurns
}

/** An order that the index cannot give: values that differ have the same key. */
export class UnclearOrder extends Error {}

/** The candidates of a plan in portions. A document may come twice where several ranges have it. */
export function findCandidates(
  source: CandidateSource,
  plan: QueryPlan,
): AsyncIterable<readonly Candidate[]> {
  if (plan.kind === 'scan') return scan(source)
  if (plan.kind === 'ranges') return followRanges(source, plan.index, plan.ranges)
  return plan.ascending ? walkUp(source, plan.index) : walkDown(source, plan.index)
}

async function* scan({ reader, at, turns }: CandidateSource): AsyncGenerator<readonly Candidate[]> {
  let after = ''
  while (true) {
    const sizes = await listSizes(reader, at, { after, limit: portionDocuments })
    for (const { last } of portionsOf(sizes)) {
      yield (await listRange(reader, at, { after, upTo: last })).map(candidate)
      after = last
      await turns.giveWay()
    }
    if (sizes.length < portionDocuments) return
  }
}

async function* followRanges(
  source: CandidateSource,
  index: FieldIndex,
  ranges: readonly KeyRange[],
): AsyncGenerator<readonly Candidate[]> {
  for (const { from, to } of ranges)
    for await (const entries of entriesBetween(source, { index, from, to }))
      yield* documentsOf(source, entries)
}

async function* walkUp(source: CandidateSource, index: FieldIndex): AsyncGenerator<readonly Candidate[]> {
  // Entries of elements come before those of values.
  for await (const entries of entriesBetween(source, { index, from: 'v', to: 'w' }))
    yield* inOrder(source, entries)
}

/** Documents with the same value come by their ids, up, while values go down. */
async function* walkDown(source: CandidateSource, index: FieldIndex): AsyncGenerator<readonly Candidate[]> {
  const { fileId } = source.at
  let key = await findKeyBefore(source.reader, { fileId, indexNo: index.indexNo, before: 'w' })
  while (key?.startsWith('v')) {
    for await (const entries of entriesBetween(source, { index, from: key, to: key }))
      yield* inOrder(source, entries)
    key = await findKeyBefore(source.reader, { fileId, indexNo: index.indexNo, before: key })
  }
}

async function* entriesBetween(
  { reader, at, turns }: CandidateSource,
  { index, from, to }: KeyRange & { readonly index: FieldIndex },
): AsyncGenerator<readonly IndexEntry[]> {
  const of: { fileId: FileId; indexNo: number } = { fileId: at.fileId, indexNo: index.indexNo }
  let after: IndexEntry | undefined = { key: from, id: '' }
  while (after) {
    const entries: IndexEntry[] = await listEntries(reader, { ...of, to, after, limit: portionDocuments })
    if (entries.length > 0) yield entries
    after = entries.length < portionDocuments ? undefined : entries.at(-1)
    await turns.giveWay()
  }
}

/** The documents of entries, in their order, in portions. */
async function* documentsOf(
  { reader, at, turns }: CandidateSource,
  entries: readonly IndexEntry[],
): AsyncGenerator<readonly Candidate[]> {
  const wanted = [...new Set(entries.map(({ id }) => id))]
  const sizes = new Map((await listSizesOf(reader, at, wanted)).map(({ id, size }) => [id, size]))
  const present = wanted.flatMap((id) => {
    const size = sizes.get(id)
    return size === undefined ? [] : [{ id, size }]
  })
  for (const { ids } of portionsOf(present)) {
    const found = (await listDocuments(reader, at, ids)).map(candidate)
    const byId = new Map(found.map((it) => [sortableText(it.document.id), it]))
    yield ids.flatMap((id) => byId.get(id) ?? [])
    await turns.giveWay()
  }
}

async function* inOrder(
  source: CandidateSource,
  entries: readonly IndexEntry[],
): AsyncGenerator<readonly Candidate[]> {
  if (entries.some(({ key }) => isCutKey(key))) throw new UnclearOrder()
  yield* documentsOf(source, entries)
}

function candidate(stored: { readonly id: string; readonly text: string; readonly size: number }): Candidate {
  return { document: readDocument(stored), size: stored.size }
}
