import type { Action } from '@kith/protocol'
import { shownIdTag } from '#lib/identity.ts'
import { Avatar } from '#ui/avatar.tsx'
import { Icon } from '#ui/icon.tsx'
import type { IconName } from '#ui/icon-names.ts'
import { Link } from '#ui/link.tsx'
import { ShownName } from '#ui/rich-text.tsx'
import { Time } from '#ui/time.tsx'
import { Unverified } from '#ui/unverified.tsx'
import { useTexts } from '#ui/use-texts.ts'
import styles from './post.module.css'
import { postTexts } from './post-texts.ts'

const profilePath = (idTag: string) => `/profiles/${encodeURIComponent(idTag)}`
export const postPath = (actionId: string) => `/posts/${encodeURIComponent(actionId)}`

const visibilityIcons: Readonly<Record<string, IconName>> = {
  P: 'globe',
  V: 'user-check',
  F: 'users',
  C: 'lock',
}

/** Who says it, where, when, and who may read it. */
export function PostHead({ post, size = 44 }: { readonly post: Action; readonly size?: number }) {
  const t = useTexts(postTexts)
  const { issuer, issuerTag, audienceTag, visibility } = post
  const isForPlace = visibility === 'C' && audienceTag !== undefined
  const readers = isForPlace ? t.forPlace(shownIdTag(audienceTag)) : t[`visibility:${visibility ?? 'none'}`]
  return (
    <header class={styles.head} style={{ '--avatar': `${size}px` }}>
      <Avatar idTag={issuerTag} name={issuer.name} hasPicture={issuer.profilePic !== undefined} size={size} />
      <div class={styles.who}>
        <Link href={profilePath(issuerTag)} class={styles.name}>
          <ShownName name={issuer.name} idTag={issuerTag} />
        </Link>
        <span class={styles.line}>
          <bdi class={styles.idTag}>{issuerTag}</bdi>
          <Link href={postPath(post.actionId)}>
            <Time iso={post.createdAt} />
          </Link>
          <span role="img" aria-label={readers} title={readers} class={styles.readers}>
            <Icon name={isForPlace ? 'network' : (visibilityIcons[visibility ?? ''] ?? 'mail')} />
          </span>
          {post.unverified && <Unverified />}
          {audienceTag !== undefined && (
            <Link href={profilePath(audienceTag)} class={styles.place}>
              <Icon name="chevron-right" />
              <bdi>{audienceTag}</bdi>
            </Link>
          )}
        </span>
      </div>
    </header>
  )
}
