import { type AuditEntryView, getAuditLog } from '@kith/protocol'
import { infiniteQueryOptions, useInfiniteQuery } from '@tanstack/preact-query'
import { client } from '#platform/client.ts'
import { Button } from '#ui/button.tsx'
import { Empty } from '#ui/empty.tsx'
import { QueryState } from '#ui/query-state.tsx'
import { Time } from '#ui/time.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { logTexts } from './log-texts.ts'
import styles from './section.module.css'
import { Section } from './section.tsx'
import { settingsTexts } from './settings-texts.ts'

const logQuery = infiniteQueryOptions({
  queryKey: ['settings', 'log'],
  queryFn: async ({ pageParam, signal }) => {
    const cursor = pageParam === '' ? {} : { cursor: pageParam }
    const query = { limit: 30, ...cursor }
    const { data, cursorPagination } = await client.call(getAuditLog, { query }, { signal })
    return { entries: data, next: cursorPagination?.nextCursor ?? undefined }
  },
  initialPageParam: '',
  getNextPageParam: ({ next }) => next,
  // No event says that something was written.
  staleTime: 0,
})

/** What happened to the account. */
export function LogScreen() {
  const titles = useTexts(settingsTexts)
  const t = useTexts(logTexts)
  const log = useInfiniteQuery(logQuery)
  const entries = log.data?.pages.flatMap((page) => page.entries) ?? []
  return (
    <Section title={titles.log}>
      <p class="soft">{t.why}</p>
      <QueryState query={log} heights={[56, 56, 56]} />
      {log.data && entries.length === 0 && <Empty icon="list" title={t.none} />}
      {entries.length > 0 && (
        <div class="card">
          <ol class={styles.lines}>
            {entries.map((entry) => (
              <LogLine key={entry.id} entry={entry} />
            ))}
          </ol>
        </div>
      )}
      {log.hasNextPage && (
        <Button isBusy={log.isFetchingNextPage} onClick={() => void log.fetchNextPage()}>
          {titles.more}
        </Button>
      )}
    </Section>
  )
}

function LogLine({ entry }: { readonly entry: AuditEntryView }) {
  const t = useTexts(logTexts)
  const { event, createdAt, actorTag, ipAddress, details } = entry
  // Events of a newer server are told by their name.
  const told = t[event as keyof typeof t] ?? event
  const about = [details.name, details.email].find((value) => typeof value === 'string')
  const source = [actorTag, ipAddress].filter((part) => part !== undefined).join(' · ')
  return (
    <li>
      <div>
        {told}
        {about !== undefined && (
          <>
            {': '}
            <bdi>{String(about)}</bdi>
          </>
        )}
        <p class="soft">
          <Time iso={createdAt} />
          {source && ` · ${source}`}
        </p>
      </div>
    </li>
  )
}
