import { useInfiniteQuery, useQuery } from '@tanstack/preact-query'
import { useState } from 'preact/hooks'
import { PersonLine, PersonSearch, personLine, profileList } from '#features/people/screens.ts'
import { Button } from '#ui/button.tsx'
import { ButtonLink } from '#ui/button-link.tsx'
import { Empty } from '#ui/empty.tsx'
import { QueryState } from '#ui/query-state.tsx'
import { Refresh } from '#ui/refresh.tsx'
import { ScreenTitle } from '#ui/screen-title.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { communitiesKey } from './communities-keys.ts'
import { invitations } from './communities-query.ts'
import { communitiesTexts } from './communities-texts.ts'
import { InvitationLine } from './invitation-line.tsx'
import { ofMine } from './own-communities.ts'

const ofFollowed = profileList({ type: 'community', connected: 'disconnected', following: true })

/** The communities that one belongs to, is invited to, follows, or looks for. */
export function CommunitiesScreen() {
  const t = useTexts(communitiesTexts)
  const [text, setText] = useState('')
  return (
    <div class="stack">
      <div class="row" style={{ justifyContent: 'space-between' }}>
        <ScreenTitle>{t.communities}</ScreenTitle>
        <Refresh of={[communitiesKey, ofMine.queryKey, ofFollowed.queryKey]} isLive />
        <ButtonLink href="/people" icon="users">
          {t.toPeople}
        </ButtonLink>
      </div>
      <PersonSearch text={text} onText={setText} type="community" label={t.search} hint={t.searchHint} />
      {text.trim() === '' && <Known />}
    </div>
  )
}

function Known() {
  const t = useTexts(communitiesTexts)
  const invited = useQuery(invitations)
  const mine = useInfiniteQuery(ofMine)
  const followed = useInfiniteQuery(ofFollowed)
  const all = [invited, mine, followed]
  const state = <QueryState query={all} heights={[73, 73, 73]} />
  if (all.some(({ isPending }) => isPending)) return state
  const hasFailed = all.some(({ error }) => error)
  const isEmpty = ![invited.data, mine.data?.pages[0]?.profiles, followed.data?.pages[0]?.profiles].some(
    (list) => (list?.length ?? 0) > 0,
  )
  return (
    <>
      {state}
      {invited.data && invited.data.length > 0 && (
        <section class="stack">
          <h2>{t.invited}</h2>
          <ul class={personLine.people} aria-label={t.invited}>
            {invited.data.map((invitation) => (
              <InvitationLine key={invitation.actionId} invitation={invitation} />
            ))}
          </ul>
        </section>
      )}
      <Section title={t.mine} list={ofMine} />
      <Section title={t.followed} list={ofFollowed} />
      {!hasFailed && isEmpty ? (
        <Empty icon="network" title={t.none} step={<Create isPrimary />}>
          {t.noneWhy}
        </Empty>
      ) : (
        <div>
          <Create />
        </div>
      )}
    </>
  )
}

function Section({ title, list }: { readonly title: string; readonly list: typeof ofMine }) {
  const t = useTexts(communitiesTexts)
  const found = useInfiniteQuery(list)
  const communities = found.data?.pages.flatMap(({ profiles }) => profiles) ?? []
  if (communities.length === 0) return null
  return (
    <section class="stack">
      <h2>{title}</h2>
      <ul class={personLine.people} aria-label={title}>
        {communities.map((community) => (
          <PersonLine
            key={community.idTag}
            person={community}
            href={`/communities/${encodeURIComponent(community.idTag)}`}
          />
        ))}
      </ul>
      {found.hasNextPage && (
        <Button isBusy={found.isFetchingNextPage} onClick={() => void found.fetchNextPage()}>
          {t.more}
        </Button>
      )}
    </section>
  )
}

/** The page that founds a community is one of the server's own, beside the app. */
function Create({ isPrimary = false }: { readonly isPrimary?: boolean }) {
  const t = useTexts(communitiesTexts)
  return (
    <ButtonLink href="/communities/new" icon="plus" kind={isPrimary ? 'primary' : 'plain'} isPage>
      {t.create}
    </ButtonLink>
  )
}
