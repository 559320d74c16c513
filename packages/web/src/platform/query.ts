import { KithError } from '@kith/client'
import { notifyManager, QueryClient } from '@tanstack/preact-query'
import { offlineSince } from './offline.ts'

const longestWaitMs = 30_000
const triesWithoutAnswer = 5
const triesOfChange = 3
// Whoever has pressed a button waits so long for it at most.
const longestBusySecs = 10

/** Whether trying again may help, without anybody doing something. */
export function isPassing(error: unknown): boolean {
  return !(error instanceof KithError) || isToldToWait(error)
}

/** Whether the server is there, and asks for patience: nothing was done. */
function isToldToWait(error: unknown): boolean {
  return error instanceof KithError && ['E-RATELIMIT', 'E-UNAVAILABLE'].includes(error.code)
}

/** Whether the server has answered about what was asked for itself: a new connection to it changes nothing of that. */
export function isAnswered(error: unknown): boolean {
  return error instanceof KithError && error.status < 500 && error.status !== 401 && !isToldToWait(error)
}

function isToldWhen(error: unknown): boolean {
  return error instanceof KithError && error.retryAfterSecs !== undefined
}

function isSoon(error: unknown): boolean {
  return error instanceof KithError && (error.retryAfterSecs ?? 0) <= longestBusySecs
}

const nextTries = new WeakMap<object, number>()

/** When what has failed with this is tried again by itself, in ms since 1970. */
export function nextTryOf(error: unknown): number | undefined {
  return typeof error === 'object' && error !== null ? nextTries.get(error) : undefined
}

function delayAfter(failures: number, error: Error): number {
  const told = error instanceof KithError ? error.retryAfterSecs : undefined
  const delayMs = told === undefined ? Math.min(500 * 2 ** failures, longestWaitMs) : told * 1000
  nextTries.set(error, Date.now() + delayMs)
  return delayMs
}

/** Whether asking again within seconds may help. A foreign server that does not answer, or not as it should, is seldom better by
 * then, and somebody waits. */
export function isWorthRetrying(error: unknown): boolean {
  return offlineSince.get() === undefined && isPassing(error) && foreignFault(error) === undefined
}

/** What is wrong with the server of somebody else, where that is why there is no answer. */
export function foreignFault(error: unknown): 'bad-answer' | 'no-answer' | undefined {
  const reason = error instanceof KithError && error.code === 'E-UNAVAILABLE' && error.details?.reason
  return reason === 'bad-answer' || reason === 'no-answer' ? reason : undefined
}

/** Whether there was no answer, or one of something before the server that did not reach it either. */
export function isUnreachable(error: unknown): boolean {
  return !(error instanceof KithError) || [502, 503, 504].includes(error.status)
}

/** What the app knows of the server. News arrives by the bus, so nothing is asked again by time. */
export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: Number.POSITIVE_INFINITY,
      // Until a screen that was left is seldom gone back to.
      gcTime: 10 * 60_000,
      refetchOnWindowFocus: false,
      // Without a connection the browser would wait in silence: asked all the same, it says so at once.
      networkMode: 'always',
      refetchOnReconnect: true,
      // Who is told how long to wait goes on for as long as somebody looks.
      retry: (failures, error) =>
        isWorthRetrying(error) && (failures < triesWithoutAnswer || isToldWhen(error)),
      retryDelay: delayAfter,
    },
    mutations: {
      networkMode: 'always',
      retry: (failures, error) => failures < triesOfChange && isToldToWait(error) && isSoon(error),
      retryDelay: delayAfter,
    },
  },
})

// What has changed while it was asked for the first time. That question goes on, and its answer may be from before. Bound: what is
// being asked.
const overtaken = new Set<string>()
queries.getQueryCache().subscribe((event) => {
  const { queryHash, queryKey, state } = event.query
  if (event.type === 'removed') overtaken.delete(queryHash)
  if (event.type !== 'updated') return
  const isFirst = state.fetchStatus === 'fetching' && state.data === undefined
  if (event.action.type === 'invalidate' && isFirst) overtaken.add(queryHash)
  if (event.action.type === 'success' && overtaken.delete(queryHash))
    queueMicrotask(() => void queries.invalidateQueries({ queryKey, exact: true }))
})

/** Comes when everybody who looks at a query has been told of what has changed in it. */
export function whenTold(): Promise<void> {
  return new Promise((resolve) => notifyManager.schedule(() => resolve()))
}

/** Ends the waiting of the query with this `refetch`, of whose result it is. */
export function cancelQueryWith(refetch: unknown): void {
  const asked = queries
    .getQueryCache()
    .findAll({ fetchStatus: 'fetching' })
    // An observer has one `refetch` for as long as it lives.
    .filter(({ observers }) => observers.some((observer) => observer.refetch === refetch))
  for (const { queryKey } of asked) void queries.cancelQueries({ queryKey, exact: true })
}

/** After a change of whom one hears: what is shown is loaded anew, and what was kept of other screens is forgotten. */
export function hearAnew(): Promise<void> {
  queries.removeQueries({ type: 'inactive' })
  return queries.invalidateQueries()
}
