import { rtdbLimits } from '@kith/protocol'
import type { Reader } from '#infra/db/index.ts'
import { EventLoopTurns } from '#lib/event-loop-turns.ts'
import { compileAggregate } from './aggregate.ts'
import type { EngineDeps } from './apply-transaction.ts'
import { type ChangedDocuments, DocumentCollector } from './collect-documents.ts'
import type { DatabaseKey, LoggedChanges, QueryInput, QueryResult } from './database.ts'
import { findState } from './database-store.ts'
import { findDocument, readDocument } from './document-store.ts'
import { compileFilter, conditionsOf } from './filter.ts'
import { type CandidateSource, findCandidates, UnclearOrder } from './find-candidates.ts'
import { GroupTotals } from './group-totals.ts'
import { listIndexes } from './index-store.ts'
import { readChanges } from './list-changes.ts'
import { parsePath } from './paths.ts'
import { planQuery, type QueryPlan } from './query-plan.ts'
import { RtdbFailure } from './rtdb-failure.ts'
import { documentOrder } from './shape-documents.ts'
import { collectionKey } from './sort-keys.ts'
import type { ReadDocument } from './values.ts'

type QueryDeps = Pick<EngineDeps, 'db'>

// After these the query reads in one transaction, which keeps SQLite from truncating its log.
const liveAttempts = 2

/** The documents, or the rows of an aggregate, that a query asks for. They are read in portions, between which others
 * write; what is written meanwhile is made up for from the log of changes. */
export function runQuery(deps: QueryDeps, key: DatabaseKey, input: QueryInput): Promise<QueryResult> {
  const query = checkQuery(input)
  return atOneState(deps, key, (reader) => attempt(reader, key, query))
}

/** One document, and the state it is of. */
export function getDocument(
  deps: QueryDeps,
  key: DatabaseKey,
  text: string,
): Promise<{ readonly document: ReadDocument | undefined; readonly seq: number }> {
  const path = parsePath(text, 'document')
  return atOneState(deps, key, async (reader) => {
    const { lastSeq } = await findState(reader, key.fileId)
    const found = await findDocument(reader, { fileId: key.fileId, path: path.parent }, path.id)
    const since = await readChanges(reader, key.fileId, lastSeq)
    if (!since.isComplete) return undefined
    const changed = changedIn(path.parent, since.changes)
    const document = changed.has(path.id) ? changed.get(path.id) : found && readDocument(found)
    return { document, seq: since.changes.at(-1)?.seq ?? lastSeq }
  })
}

async function atOneState<Result>(
  { db }: QueryDeps,
  { tenantId }: DatabaseKey,
  read: (reader: Reader) => Promise<Result | undefined>,
): Promise<Result> {
  for (let tried = 0; tried < liveAttempts; tried += 1) {
    const result = await read(db.reader(tenantId))
    if (result !== undefined) return result
  }
  const result = await db.snapshot((reader) => read(reader(tenantId)))
  if (result === undefined) throw new Error('The state of one moment has changed')
  return result
}

type CheckedQuery = Omit<QueryInput, 'path' | 'offset'> & { readonly path: string; readonly offset: number }

function checkQuery(input: QueryInput): CheckedQuery {
  const { path, select, limit, offset = 0 } = input
  const isCount = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0
  if (!isCount(offset) || (limit !== undefined && !isCount(limit)))
    throw new RtdbFailure(400, 'limit and offset are whole numbers from 0 on')
  if (select !== undefined && !(Array.isArray(select) && select.every((it) => typeof it === 'string')))
    throw new RtdbFailure(400, 'select is an array of fields')
  return { ...input, offset, path: parsePath(path, 'collection').text }
}

async function attempt(
  reader: Reader,
  { fileId }: DatabaseKey,
  query: CheckedQuery,
): Promise<QueryResult | undefined> {
  const { lastSeq } = await findState(reader, fileId)
  const plan = await choosePlan(reader, { fileId, query })
  const source = { reader, at: { fileId, path: query.path }, turns: new EventLoopTurns() }
  const finish = await collectBy(source, plan, query)
  const since = await readChanges(reader, fileId, lastSeq)
  if (!since.isComplete) return undefined
  const data = await finish(changedIn(query.path, since.changes))
  return data && { data, seq: since.changes.at(-1)?.seq ?? lastSeq }
}

async function choosePlan(
  reader: Reader,
  { fileId, query }: { readonly fileId: DatabaseKey['fileId']; readonly query: CheckedQuery },
): Promise<QueryPlan> {
  const { filter, sort, limit, path, aggregate } = query
  const key = collectionKey(path)
  const indexes = (await listIndexes(reader, fileId)).filter(({ collection }) => collection === key)
  const hasLimit = limit !== undefined && aggregate === undefined
  return planQuery(indexes, { conditions: conditionsOf(filter), sort, hasLimit })
}

type Finish = (changed: ChangedDocuments) => Promise<QueryResult['data'] | undefined>

async function collectBy(source: CandidateSource, plan: QueryPlan, query: CheckedQuery): Promise<Finish> {
  const collect = query.aggregate ? collectGroups : collectDocuments
  try {
    return await collect(source, plan, query)
  } catch (error) {
    if (error instanceof UnclearOrder) return collect(source, { kind: 'scan' }, query)
    throw error
  }
}

async function collectDocuments(
  source: CandidateSource,
  plan: QueryPlan,
  { filter, sort, offset, limit, select }: CheckedQuery,
): Promise<Finish> {
  const collector = new DocumentCollector({
    matches: compileFilter(filter),
    order: documentOrder(sort),
    isOrdered: plan.kind === 'walk' || (plan.kind === 'scan' && !sort?.length),
    offset,
    limit,
    select,
    sortFields: (sort ?? []).map(({ field }) => field),
    turns: source.turns,
  })
  for await (const candidates of findCandidates(source, plan)) {
    await collector.add(candidates)
    if (collector.isFull) break
  }
  return (changed) => collector.finish(changed)
}

async function collectGroups(
  source: CandidateSource,
  plan: QueryPlan,
  { filter, aggregate = { groupBy: '' }, offset, limit }: CheckedQuery,
): Promise<Finish> {
  const totals = new GroupTotals(compileAggregate(aggregate), { canRemove: false })
  const matches = compileFilter(filter)
  // Bounded by the number of documents; needed where one may come twice.
  const seen = plan.kind === 'ranges' ? new Set<string>() : undefined
  for await (const candidates of findCandidates(source, plan))
    for (const { document } of candidates) {
      if (seen?.has(document.id) || !matches(document)) continue
      seen?.add(document.id)
      totals.add(document)
      if (source.turns.isOver) await source.turns.giveWay()
      if (totals.textBytes > rtdbLimits.resultBytes)
        throw new RtdbFailure(
          413,
          `A result has at most ${rtdbLimits.resultBytes} bytes: these are too many groups`,
        )
    }
  // It is not known whether a changed document was counted before or after its change: read again.
  return async (changed) =>
    changed.size > 0
      ? undefined
      : (await totals.allRows(source.turns)).slice(offset, limit === undefined ? undefined : offset + limit)
}

/** The last of each document that has changed in a collection. */
function changedIn(path: string, logged: readonly LoggedChanges[]): ChangedDocuments {
  const changed = new Map<string, ReadDocument | undefined>()
  const prefix = `${path}/`
  for (const { changes } of logged)
    for (const change of changes) {
      const id = change.path.slice(prefix.length)
      if (change.path.startsWith(prefix) && !id.includes('/')) changed.set(id, change.after)
    }
  return changed
}
