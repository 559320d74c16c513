import type { Profile } from '@kith/protocol'
import { useInfiniteQuery } from '@tanstack/preact-query'
import { shownIdTag } from '#lib/identity.ts'
import { Button } from '#ui/button.tsx'
import { ButtonLink } from '#ui/button-link.tsx'
import { Empty } from '#ui/empty.tsx'
import { QueryState } from '#ui/query-state.tsx'
import { Refresh } from '#ui/refresh.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { FeedCard } from './feed-card.tsx'
import { postsKey, profileKey } from './people-keys.ts'
import { postsOf } from './people-query.ts'
import { peopleTexts } from './people-texts.ts'
import { PostExcerpt } from './post-excerpt.tsx'
import { isReceived } from './relationship.ts'

/** The posts of an identity. Those of somebody whose posts do not arrive here are read at their own server. */
export function ProfilePosts({ profile, isOwn }: { readonly profile: Profile; readonly isOwn: boolean }) {
  const t = useTexts(peopleTexts)
  const place = isOwn || isReceived(profile) ? 'here' : 'there'
  const list = useInfiniteQuery(postsOf(profile.idTag, place))
  const posts = list.data?.pages.flatMap((page) => page.posts) ?? []
  const keys = [postsKey(profile.idTag), profileKey(profile.idTag)]
  return (
    <>
      <QueryState query={list} heights={[160, 160]} />
      {place === 'here' ? (
        <Refresh of={keys} isLive />
      ) : (
        <div class="row">
          {posts.length > 0 && <p class="soft">{t.fromThere(shownIdTag(profile.idTag))}</p>}
          <Refresh of={keys} />
        </div>
      )}
      {list.data && posts.length === 0 && <NoPosts isOwn={isOwn} />}
      {posts.length > 0 && (
        <div role="feed" aria-label={t.posts} aria-busy={list.isFetchingNextPage} class="stack">
          {posts.map((post, index) =>
            place === 'here' ? (
              <FeedCard
                key={post.actionId}
                post={post}
                position={index + 1}
                of={list.hasNextPage ? -1 : posts.length}
              />
            ) : (
              <PostExcerpt key={post.actionId} post={post} position={index + 1} />
            ),
          )}
        </div>
      )}
      {list.hasNextPage && (
        <Button isBusy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          {t.olderPosts}
        </Button>
      )}
    </>
  )
}

function NoPosts({ isOwn }: { readonly isOwn: boolean }) {
  const t = useTexts(peopleTexts)
  if (!isOwn)
    return (
      <Empty icon="square-pen" title={t.noPosts}>
        {t.noPostsWhy}
      </Empty>
    )
  return (
    <Empty
      icon="square-pen"
      title={t.noOwnPosts}
      step={
        <ButtonLink href="/new" icon="square-pen">
          {t.writePost}
        </ButtonLink>
      }
    />
  )
}
