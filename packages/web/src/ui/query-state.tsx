import { useEffect, useRef, useState } from 'preact/hooks'
import { cancelQueryWith, nextTryOf } from '#platform/query.ts'
import { Absent } from './absent.tsx'
import { Button } from './button.tsx'
import { codeOf } from './explain.ts'
import { Icon } from './icon.tsx'
import { Loading } from './loading.tsx'
import { Problem, useExplain } from './problem.tsx'
import { ScreenTitle } from './screen-title.tsx'
import styles from './states.module.css'
import { uiTexts } from './ui-texts.ts'
import { useTexts } from './use-texts.ts'

/** What is read of the result of a query. */
interface Asked {
  readonly isPending: boolean
  readonly error: unknown
  /** When it failed last, in Unix milliseconds; 0: never. */
  readonly errorUpdatedAt: number
  readonly failureReason: unknown
  readonly fetchStatus: 'fetching' | 'paused' | 'idle'
  readonly refetch: () => unknown
}

interface QueryStateProps {
  /** Several are one part of the screen: it stands when all have come. */
  readonly query: Asked | readonly Asked[]
  /** The heights of what will stand here, in px. */
  readonly heights: readonly number[]
  /** What did not work, as a sentence. */
  readonly what?: string | undefined
  /** Who could allow what is forbidden, as a sentence. */
  readonly whoMay?: string | undefined
}

/** What stands where the answer of a query belongs while it is not there: that it loads, waits or has failed, and what can be
 * done. Nothing once the answer is there, unless asking for it anew has failed. */
export function QueryState({ query, heights, what, whoMay }: QueryStateProps) {
  const all: readonly Asked[] = 'refetch' in query ? [query] : query
  const [isStopped, setStopped] = useState(false)
  const failed = all.filter(({ error }) => error)
  const pending = all.filter(({ isPending }) => isPending)
  const stop = () => {
    for (const { refetch } of pending) cancelQueryWith(refetch)
    setStopped(true)
  }
  const again = (some: readonly Asked[]) => {
    setStopped(false)
    for (const { refetch } of some) void refetch()
  }
  if (failed[0])
    return <Problem error={failed[0].error} what={what} whoMay={whoMay} onAgain={() => again(failed)} />
  if (pending.length === 0) return null
  if (isStopped && pending.every(({ fetchStatus }) => fetchStatus === 'idle'))
    return <Stopped onAgain={() => again(pending)} />
  if (pending.some(({ fetchStatus }) => fetchStatus === 'paused')) return <Offline />
  const error = pending.find(({ failureReason }) => nextTryOf(failureReason) !== undefined)?.failureReason
  return error ? (
    <Waiting key={String(nextTryOf(error))} error={error} heights={heights} onStop={stop} />
  ) : (
    <Loading heights={heights} onCancel={stop} />
  )
}

interface ScreenStateProps extends QueryStateProps {
  /** The heading until the screen has its own. */
  readonly title: string
}

/** The same of what a whole screen is about: what is unknown, and what one may not see, are one and the same page. */
export function ScreenState({ title, ...state }: ScreenStateProps) {
  const all: readonly Asked[] = 'refetch' in state.query ? [state.query] : state.query
  if (useIsAbsent(all)) return <Absent />
  return (
    <div class="stack">
      <ScreenTitle>
        <bdi>{title}</bdi>
      </ScreenTitle>
      <QueryState {...state} />
    </div>
  )
}

/** Whether one of the queries was told last that what it asks for is not there. A query without data loses its error as soon as
 * it is asked again: until it is answered, what stood there stays. */
export function useIsAbsent(queries: readonly Asked[]): boolean {
  const failedAt = useRef<number>()
  const absent = queries.find(({ error }) => error && isAbsent(error))
  if (absent) failedAt.current = absent.errorUpdatedAt
  return queries.some(
    (query) => query === absent || (query.isPending && query.errorUpdatedAt === failedAt.current),
  )
}

/** Whether what an address names is not there; what is no name of anything is not there either. */
function isAbsent(error: unknown): boolean {
  return /NOTFOUND$|^E-VALIDATION$/.test(codeOf(error))
}

// Shorter waits are over before they are read.
const shortWaitMs = 1_500

interface WaitingProps {
  readonly error: unknown
  readonly heights: readonly number[]
  readonly onStop: () => void
}

function Waiting({ error, heights, onStop }: WaitingProps) {
  const t = useTexts(uiTexts)
  const explain = useExplain()
  const secs = useSecsUntil(nextTryOf(error) ?? 0)
  const [isShort] = useState((nextTryOf(error) ?? 0) - Date.now() < shortWaitMs)
  if (isShort) return <Loading heights={heights} onCancel={onStop} />
  return (
    <div class={styles.waiting}>
      <Icon name="clock" />
      <div>
        <p role="status">{explain(error)}</p>
        <p role="timer">{secs > 0 ? t.nextTry(secs) : t.tryingNow}</p>
      </div>
      <Button icon="x" onClick={onStop}>
        {t.cancel}
      </Button>
    </div>
  )
}

function useSecsUntil(timeMs: number): number {
  const left = () => Math.max(0, Math.ceil((timeMs - Date.now()) / 1000))
  const [secs, setSecs] = useState(left)
  useEffect(() => {
    const timer = setInterval(() => setSecs(left), 250)
    return () => clearInterval(timer)
  }, [timeMs])
  return secs
}

function Stopped({ onAgain }: { readonly onAgain: () => void }) {
  const t = useTexts(uiTexts)
  return (
    <div class={styles.waiting}>
      <Icon name="x" />
      <p role="status">{t.stopped}</p>
      <Button icon="refresh-cw" onClick={onAgain}>
        {t.again}
      </Button>
    </div>
  )
}

function Offline() {
  const t = useTexts(uiTexts)
  return (
    <div class={styles.waiting}>
      <Icon name="cloud-off" />
      <p role="status">{t.whenOnline}</p>
    </div>
  )
}
