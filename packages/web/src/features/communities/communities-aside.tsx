import { useInfiniteQuery } from '@tanstack/preact-query'
import { PersonLine, personLine } from '#features/people/screens.ts'
import { Link } from '#ui/link.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { communitiesTexts } from './communities-texts.ts'
import { ofMine } from './own-communities.ts'

const shownAtMost = 5

/** One's communities, a step away. */
export function CommunitiesAside() {
  const t = useTexts(communitiesTexts)
  const { data } = useInfiniteQuery(ofMine)
  const mine = data?.pages[0]?.profiles ?? []
  return (
    <section class="stack">
      <h2>{t.communities}</h2>
      {mine.length > 0 && (
        <ul class={personLine.people} aria-label={t.communities}>
          {mine.slice(0, shownAtMost).map((community) => (
            <PersonLine
              key={community.idTag}
              person={community}
              href={`/communities/${encodeURIComponent(community.idTag)}`}
              note=""
            />
          ))}
        </ul>
      )}
      <Link class="line-link" href="/communities">
        {mine.length > 0 ? t.allCommunities : t.findCommunity}
      </Link>
    </section>
  )
}
