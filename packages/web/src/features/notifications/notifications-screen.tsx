import type { Action } from '@kith/protocol'
import { useInfiniteQuery, useQuery } from '@tanstack/preact-query'
import type { ComponentChildren, ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { communitiesKey, loadWaitingRequests } from '#features/communities/index.ts'
import { notify } from '#platform/notices.ts'
import { ownIdTag } from '#platform/own-identity.ts'
import { Button } from '#ui/button.tsx'
import { Empty } from '#ui/empty.tsx'
import { QueryState } from '#ui/query-state.tsx'
import { Refresh } from '#ui/refresh.tsx'
import { ScreenTitle } from '#ui/screen-title.tsx'
import { useListKeys } from '#ui/use-list-keys.ts'
import { useTexts } from '#ui/use-texts.ts'
import { markAsRead } from './change-notification.ts'
import { FilterBar } from './filter-bar.tsx'
import {
  aboutIdOf,
  groupNotifications,
  type NotificationFilter,
  notificationFilters,
} from './group-notifications.ts'
import { NotificationItem } from './notification-item.tsx'
import styles from './notifications.module.css'
import { freshNotifications, notificationsKey, pastNotifications, subjectsOf } from './notifications-query.ts'
import { notificationsTexts } from './notifications-texts.ts'
import { useReadWhenSeen } from './use-read-when-seen.ts'

/** What happened around one's own posts, people and files, the newest first. */
export function NotificationsScreen() {
  const t = useTexts(notificationsTexts)
  const { groups, subjects, asked, more, isLoadingMore } = useNotifications()
  const isPending = asked.some((query) => query.isPending)
  const error = asked.some((query) => query.error)
  const [filter, setFilter] = useState<NotificationFilter>()
  const shown = groups.filter(
    ({ kind }) => !filter || notificationFilters[filter].some((one) => one === kind),
  )
  const unread = groups.flatMap(({ actions }) => actions.filter(({ status }) => status === 'N'))
  const list = useReadWhenSeen(groups)
  const onKeyDown = useListKeys(list, { names: shown.map(() => '') })
  const readAll = () => void markAsRead(unread).catch(() => notify(t.notRead, { kind: 'failed' }))
  return (
    <div class="stack">
      <header class={styles.head}>
        <ScreenTitle>{t.notifications}</ScreenTitle>
        <Refresh of={[notificationsKey, communitiesKey]} isLive />
        {unread.length > 0 && (
          <Button needsServer kind="quiet" icon="check-check" onClick={readAll}>
            {t.readAll}
          </Button>
        )}
      </header>
      <JoinRequests otherwise={!isPending && !error && groups.length === 0 && <NothingYet />} />
      {!isPending && groups.length > 0 && <FilterBar chosen={filter} onChoose={setFilter} />}
      <QueryState query={asked} heights={[72, 72, 72, 72]} />
      {groups.length > 0 && shown.length === 0 && <p class="soft">{t.emptyKind}</p>}
      {!isPending && shown.length > 0 && (
        <ul ref={list} class={styles.list} onKeyDown={onKeyDown}>
          {shown.map((group, index) => (
            <NotificationItem
              key={group.key}
              index={index}
              group={group}
              about={subjects.get(group.aboutId ?? '')}
            />
          ))}
        </ul>
      )}
      {more && (
        <Button isBusy={isLoadingMore} onClick={more}>
          {t.more}
        </Button>
      )}
    </div>
  )
}

function NothingYet() {
  const t = useTexts(notificationsTexts)
  return (
    <Empty icon="bell" title={t.empty}>
      {t.emptyWhy}
    </Empty>
  )
}

interface JoinRequestsProps {
  /** What is shown where nobody asks. */
  readonly otherwise: ComponentChildren
}

/** Who asks to join one's communities. These are on servers of their own, and come after the rest. */
function JoinRequests({ otherwise }: JoinRequestsProps) {
  const [Waiting, setWaiting] = useState<ComponentType<JoinRequestsProps>>()
  useEffect(() => {
    let isShown = true
    loadWaitingRequests().then(
      (loaded) => isShown && setWaiting(() => loaded),
      () => undefined,
    )
    return () => {
      isShown = false
    }
  }, [])
  return Waiting ? <Waiting otherwise={otherwise} /> : otherwise
}

const none: ReadonlyMap<string, Action> = new Map()

function useNotifications() {
  const fresh = useInfiniteQuery(freshNotifications)
  const past = useInfiniteQuery(pastNotifications)
  const freshActions = fresh.data?.pages.flatMap(({ actions }) => actions) ?? []
  const pastActions = past.data?.pages.flatMap(({ actions }) => actions) ?? []
  const ids = [...freshActions, ...pastActions].flatMap((action) => aboutIdOf(action) ?? [])
  const about = useQuery(subjectsOf([...new Set(ids)].sort()))
  const subjects = about.data ?? none
  const withMore = [fresh, past].filter(({ hasNextPage }) => hasNextPage)
  return {
    subjects,
    groups: groupNotifications(freshActions, pastActions, { ownTag: ownIdTag(), subjects }),
    asked: [fresh, past, about],
    more: withMore.length > 0 && (() => void Promise.all(withMore.map((one) => one.fetchNextPage()))),
    isLoadingMore: fresh.isFetchingNextPage || past.isFetchingNextPage,
  }
}
