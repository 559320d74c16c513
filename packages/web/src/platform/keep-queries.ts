import type { Query, QueryFunction, QueryFunctionContext, QueryKey } from '@tanstack/preact-query'
import { createStore } from '#lib/store.ts'
import { connection } from './connection.ts'
import { type KeptValue, keeping, readKept, writeKept } from './kept.ts'
import { isAnswered, isUnreachable, queries } from './query.ts'
import { session } from './session.ts'
import { whenIdle } from './when-idle.ts'

/** Since when what is on the screen is not known to have changed, in Unix milliseconds: where it comes from what this device
 * keeps. */
export const shownSince = createStore<number | undefined>(undefined)

// Much is written into the cache at once.
const pauseMs = 300
// The first pages of a list are what one comes back to.
const pagesAtMost = 3

let kept: readonly QueryKey[] = []
// By hash, with the moment at which it was known. Bound: the cache.
const outdated = new Map<string, number>()
const changed = new Set<string>()
let timer: ReturnType<typeof setTimeout> | undefined

/** Keeps the answers to all queries whose keys begin so on this device, and shows them where the server cannot be asked. */
export function keepQueries(prefixes: readonly QueryKey[]): void {
  kept = prefixes
  const { queries: before, ...others } = queries.getDefaultOptions()
  queries.setDefaultOptions({ ...others, queries: { ...before, persister: askOrRead } })
}

function isKept(key: QueryKey): boolean {
  return kept.some((prefix) => prefix.every((part, at) => key[at] === part))
}

async function askOrRead<Data>(
  ask: QueryFunction<Data, QueryKey, never>,
  context: QueryFunctionContext<QueryKey>,
  query: Query,
): Promise<Data> {
  try {
    const data = await ask(context as never)
    outdated.delete(query.queryHash)
    return data
  } catch (error) {
    const isPaging = query.state.fetchMeta?.fetchMore !== undefined
    if (!isKept(query.queryKey) || isPaging || !isUnreachable(error)) throw error
    const { data, dataUpdatedAt } = query.state
    const known =
      data === undefined ? await readKept(query.queryHash) : { value: data, savedAt: dataUpdatedAt }
    if (!known) throw error
    if (!outdated.has(query.queryHash)) outdated.set(query.queryHash, known.savedAt)
    return known.value as Data
  }
}

queries.getQueryCache().subscribe(({ type, query, ...event }) => {
  if (type === 'observerAdded' || type === 'observerRemoved') noteShown()
  const isNew = type === 'updated' && 'action' in event && event.action.type === 'success'
  if (!isNew || !isKept(query.queryKey)) return
  if (outdated.has(query.queryHash)) {
    noteShown()
    // Whoever looks at it next asks the server again.
    if (!('manual' in event.action && event.action.manual)) return queueMicrotask(() => query.invalidate())
  }
  changed.add(query.queryHash)
  timer ??= setTimeout(() => whenIdle(write), pauseMs)
})

function noteShown(): void {
  const shown = [...outdated].filter(([hash]) => queries.getQueryCache().get(hash)?.isActive())
  shownSince.set(shown.length === 0 ? undefined : Math.min(...shown.map(([, since]) => since)))
}

function write(): void {
  clearTimeout(timer)
  timer = undefined
  const values: KeptValue[] = []
  for (const hash of changed) {
    const data = queries.getQueryCache().get(hash)?.state.data
    const savedAt = outdated.get(hash) ?? Date.now()
    if (data !== undefined) values.push({ name: hash, value: beginOf(data), savedAt })
  }
  changed.clear()
  if (values.length > 0) void writeKept(values)
}

function beginOf(data: unknown): unknown {
  if (typeof data !== 'object' || data === null || !('pageParams' in data && 'pages' in data)) return data
  const { pages, pageParams } = data as { readonly pages: unknown[]; readonly pageParams: unknown[] }
  return { pages: pages.slice(0, pagesAtMost), pageParams: pageParams.slice(0, pagesAtMost) }
}

/** Once the server can be asked again, what is on the screen is. */
function askAgain(): void {
  const hadOutdated = outdated.size > 0
  outdated.clear()
  noteShown()
  if (hadOutdated) void queries.invalidateQueries()
  else void queries.refetchQueries({ type: 'active', predicate: hasPassingError })
}

function hasPassingError({ state }: Query): boolean {
  return state.status === 'error' && !isAnswered(state.error)
}

connection.subscribe(() => connection.get() === 'open' && askAgain())
session.subscribe(() => session.get().state === 'signed-in' && outdated.size > 0 && askAgain())
// What was read before there was a place to keep it.
keeping.subscribe(() => {
  if (keeping.get() !== 'on') return
  for (const query of queries.getQueryCache().getAll())
    if (isKept(query.queryKey)) changed.add(query.queryHash)
  timer ??= setTimeout(() => whenIdle(write), pauseMs)
})
document.addEventListener('visibilitychange', () => document.visibilityState === 'hidden' && write())
