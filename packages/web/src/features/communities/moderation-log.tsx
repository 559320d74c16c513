import { getModerationLog, type ModerationEntry } from '@kith/protocol'
import { infiniteQueryOptions, useInfiniteQuery, useQuery } from '@tanstack/preact-query'
import { profileOf } from '#features/people/screens.ts'
import { formatMoment } from '#lib/format.ts'
import { shownName } from '#lib/identity.ts'
import { client } from '#platform/client.ts'
import { Button } from '#ui/button.tsx'
import { Empty } from '#ui/empty.tsx'
import { Icon } from '#ui/icon.tsx'
import type { IconName } from '#ui/icon-names.ts'
import { Loading } from '#ui/loading.tsx'
import { Problem } from '#ui/problem.tsx'
import { Time } from '#ui/time.tsx'
import { useLocale, useTexts } from '#ui/use-texts.ts'
import { communitiesKey } from './communities-keys.ts'
import { communitiesTexts } from './communities-texts.ts'
import { manageTexts } from './manage-texts.ts'
import styles from './members.module.css'

function moderationOf(idTag: string) {
  return infiniteQueryOptions({
    queryKey: [...communitiesKey, idTag, 'moderation'],
    queryFn: async ({ pageParam, signal }) => {
      const query = { limit: 50, ...(pageParam === '' ? {} : { cursor: pageParam }) }
      const { data, cursorPagination } = await client.at(idTag).call(getModerationLog, { query }, { signal })
      return { entries: data as readonly ModerationEntry[], next: cursorPagination?.nextCursor ?? undefined }
    },
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
    staleTime: 0,
  })
}

/** What was decided in a community about its members and what they wrote, the newest first. */
export function ModerationLog({ idTag }: { readonly idTag: string }) {
  const t = useTexts(communitiesTexts)
  const manage = useTexts(manageTexts)
  const log = useInfiniteQuery(moderationOf(idTag))
  const entries = log.data?.pages.flatMap((page) => page.entries) ?? []
  if (log.isPending) return <Loading heights={[60, 60, 60]} />
  if (log.error && entries.length === 0)
    return <Problem error={log.error} onAgain={() => void log.refetch()} />
  if (entries.length === 0)
    return (
      <Empty icon="shield" title={manage.noLog}>
        {manage.noLogWhy}
      </Empty>
    )
  return (
    <>
      <ul class={styles.log} aria-label={manage.log}>
        {entries.map((entry) => (
          <Entry key={entry.id} entry={entry} />
        ))}
      </ul>
      {log.hasNextPage && (
        <Button isBusy={log.isFetchingNextPage} onClick={() => void log.fetchNextPage()}>
          {t.more}
        </Button>
      )}
    </>
  )
}

const icons: Readonly<Record<ModerationEntry['event'], IconName>> = {
  'member.role-changed': 'user-check',
  'member.status-changed': 'shield',
  'action.removed': 'trash-2',
}

function Entry({ entry }: { readonly entry: ModerationEntry }) {
  const manage = useTexts(manageTexts)
  const locale = useLocale()
  const said = useSaid(entry)
  const actor = useName(entry.actorTag)
  const { banExpiresAt, banReason, reason } = entry.details
  const why = reason ?? banReason
  return (
    <li>
      <Icon name={icons[entry.event]} />
      <div>
        <p dir="auto">{said}</p>
        {typeof banExpiresAt === 'number' && (
          <p>{manage['log:until'](formatMoment(new Date(banExpiresAt * 1000), locale))}</p>
        )}
        {typeof why === 'string' && <p dir="auto">{manage.bannedWhy(why)}</p>}
        <p class="soft">
          <Time iso={entry.createdAt} />
          {actor !== undefined && ` ${manage.by(actor)}`}
        </p>
      </div>
    </li>
  )
}

/** The decision as a sentence. */
function useSaid({ event, details }: ModerationEntry): string {
  const t = useTexts(communitiesTexts)
  const manage = useTexts(manageTexts)
  const about = event === 'action.removed' ? details.issuerTag : details.idTag
  const name = useName(typeof about === 'string' ? about : undefined) ?? ''
  if (event === 'action.removed') return manage['log:removed'](name)
  if (event === 'member.status-changed') {
    const said = manage[`log:${String(details.status ?? 'Active')}` as 'log:Active']
    return (said ?? manage['log:Active'])(name)
  }
  const word = (role: unknown) => t[`is:${String(role)}` as 'is:leader'] ?? ''
  const [from, to] = [word(details.from), word(details.to)]
  if (to === '') return manage['log:out'](name)
  return from === '' ? manage['log:in'](name, to) : manage['log:role'](name, from, to)
}

/** The name of an identity, once it is known. */
function useName(idTag: string | undefined): string | undefined {
  const { data } = useQuery({ ...profileOf(idTag ?? ''), enabled: idTag !== undefined })
  return idTag === undefined ? undefined : shownName(data?.name, idTag)
}
