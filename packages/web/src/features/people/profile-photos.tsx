import type { Profile } from '@kith/protocol'
import { useInfiniteQuery } from '@tanstack/preact-query'
import { shownName } from '#lib/identity.ts'
import { mediaAccess, mediaAddress } from '#platform/media.ts'
import { Button } from '#ui/button.tsx'
import { Empty } from '#ui/empty.tsx'
import { Link } from '#ui/link.tsx'
import { QueryState } from '#ui/query-state.tsx'
import { useStore } from '#ui/use-store.ts'
import { useTexts } from '#ui/use-texts.ts'
import { postsOf } from './people-query.ts'
import { peopleTexts } from './people-texts.ts'
import styles from './profile-photos.module.css'

/** The pictures in the posts of an identity, as far as these are here. */
export function ProfilePhotos({ profile }: { readonly profile: Profile }) {
  const t = useTexts(peopleTexts)
  const access = useStore(mediaAccess)
  const list = useInfiniteQuery(postsOf(profile.idTag, 'here'))
  const posts = list.data?.pages.flatMap((page) => page.posts) ?? []
  const photos = posts.flatMap(({ actionId, files = [] }) =>
    files
      .filter(({ contentType }) => contentType.startsWith('image/'))
      .map((file) => ({ ...file, actionId })),
  )
  const name = shownName(profile.name, profile.idTag)
  return (
    <>
      <QueryState query={list} heights={[240]} />
      {list.data && photos.length === 0 && !list.hasNextPage && <Empty icon="image" title={t.noPhotos} />}
      {photos.length > 0 && (
        <ul class={styles.photos} aria-label={t.photos}>
          {photos.map(({ fileId, actionId, alt }) => (
            <li key={`${actionId} ${fileId}`}>
              <Link href={`/posts/${encodeURIComponent(actionId)}`}>
                {access !== undefined && (
                  <img
                    src={mediaAddress(fileId, access, { variant: 'sd' })}
                    alt={alt || t.photoOf(name)}
                    loading="lazy"
                  />
                )}
              </Link>
            </li>
          ))}
        </ul>
      )}
      {list.hasNextPage && (
        <Button isBusy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          {t.more}
        </Button>
      )}
    </>
  )
}
