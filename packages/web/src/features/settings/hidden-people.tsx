import { listProfiles, type Profile, updateRelationship } from '@kith/protocol'
import { infiniteQueryOptions, useInfiniteQuery, useMutation } from '@tanstack/preact-query'
import { shownName } from '#lib/identity.ts'
import { client } from '#platform/client.ts'
import { notify } from '#platform/notices.ts'
import { hearAnew } from '#platform/query.ts'
import { Avatar } from '#ui/avatar.tsx'
import { Button } from '#ui/button.tsx'
import { Link } from '#ui/link.tsx'
import { useExplain } from '#ui/problem.tsx'
import { QueryState } from '#ui/query-state.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { privacyTexts } from './privacy-texts.ts'
import styles from './section.module.css'
import { settingsTexts } from './settings-texts.ts'

const hiddenPeople = infiniteQueryOptions({
  queryKey: ['settings', 'hidden-people'],
  queryFn: async ({ pageParam, signal }) => {
    const cursor = pageParam === '' ? {} : { cursor: pageParam }
    const query = { status: ['Blocked', 'Muted'] as const, limit: 50, ...cursor }
    const { data, cursorPagination } = await client.call(listProfiles, { query }, { signal })
    return { people: data, next: cursorPagination?.nextCursor ?? undefined }
  },
  initialPageParam: '',
  getNextPageParam: ({ next }) => next,
  // People are blocked on other screens.
  staleTime: 0,
})

/** Who is blocked or muted, with the way back. */
export function HiddenPeople() {
  const t = useTexts(privacyTexts)
  const titles = useTexts(settingsTexts)
  const list = useInfiniteQuery(hiddenPeople)
  const people = list.data?.pages.flatMap((page) => page.people) ?? []
  return (
    <section class="card" aria-labelledby="hidden">
      <h2 id="hidden" tabIndex={-1}>
        {t.hidden}
      </h2>
      <QueryState query={list} heights={[56, 56]} />
      {list.data && people.length === 0 && <p class="soft">{t.noneHidden}</p>}
      <ul class={styles.lines}>
        {people.map((person) => (
          <HiddenPerson key={person.idTag} person={person} />
        ))}
      </ul>
      {list.hasNextPage && (
        <Button isBusy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          {titles.more}
        </Button>
      )}
    </section>
  )
}

function HiddenPerson({ person }: { readonly person: Profile }) {
  const t = useTexts(privacyTexts)
  const explain = useExplain()
  const { idTag, profilePic } = person
  const name = shownName(person.name, idTag)
  const isBlocked = person.status === 'Blocked'
  const restore = useMutation({
    mutationFn: () =>
      client.call(updateRelationship, {
        params: { idTag },
        body: { relationship: isBlocked ? 'unblock' : 'unmute' },
      }),
    onSuccess: () => {
      document.getElementById('hidden')?.focus()
      void hearAnew()
    },
    onError: (error) => notify(explain(error), { kind: 'failed' }),
  })
  return (
    <li>
      <Avatar idTag={idTag} name={name} hasPicture={profilePic !== undefined} />
      <div>
        <Link href={`/profiles/${encodeURIComponent(idTag)}`}>
          <bdi>{name}</bdi>
        </Link>
        <p class="soft">
          {isBlocked ? t.blocked : t.muted} · {idTag}
        </p>
      </div>
      <Button
        isBusy={restore.isPending}
        aria-label={isBlocked ? t.unblockOf(name) : t.unmuteOf(name)}
        onClick={() => restore.mutate()}
      >
        {isBlocked ? t.unblock : t.unmute}
      </Button>
    </li>
  )
}
