import type { Action } from '@kith/protocol'
import { useQuery } from '@tanstack/preact-query'
import type { ComponentChildren } from 'preact'
import { formatAge } from '#lib/format.ts'
import { shownName } from '#lib/identity.ts'
import { excerptOf } from '#lib/shown-text.ts'
import { Icon } from '#ui/icon.tsx'
import { Link } from '#ui/link.tsx'
import { ShownName } from '#ui/rich-text.tsx'
import { useLocale, useTexts } from '#ui/use-texts.ts'
import { postQuery } from './feed-query.ts'
import styles from './post.module.css'
import { PostBody } from './post-body.tsx'
import { PostButtons } from './post-buttons.tsx'
import { contentOf } from './post-content.ts'
import { PostHead } from './post-head.tsx'
import { PostMenu } from './post-menu.tsx'
import { postTexts } from './post-texts.ts'

interface PlaceInFeed {
  /** In the feed, from 1. */
  readonly position: number
  /** How many there are; -1, and when absent: more than are known. */
  readonly of?: number
}

/** A post in a feed, as this server shows it: as a repost, the post that is shared. */
export function PostCard({ post, ...place }: PlaceInFeed & { readonly post: Action }) {
  // What changes it, changes it under its key.
  const { data = post } = useQuery({ ...postQuery(post.actionId), initialData: post })
  return (
    <FeedArticle actionId={post.actionId} label={usePostLabel(data)} {...place}>
      <Card post={data} />
    </FeedArticle>
  )
}

interface PostCardByIdProps extends PlaceInFeed {
  readonly actionId: string
  /** What stands above it. */
  readonly children?: ComponentChildren
}

/** The same of a post that a list has the id of. */
export function PostCardById({ actionId, children, ...place }: PostCardByIdProps) {
  const { data: post } = useQuery(postQuery(actionId))
  return (
    <FeedArticle actionId={actionId} label={usePostLabel(post)} {...place}>
      {children}
      {post ? <Card post={post} /> : <div class="card" style={{ height: 200 }} />}
    </FeedArticle>
  )
}

interface FeedArticleProps extends PlaceInFeed {
  readonly actionId: string
  readonly label: string
  readonly children: ComponentChildren
}

function FeedArticle({ actionId, label, position, of = -1, children }: FeedArticleProps) {
  return (
    <article
      class={styles.article}
      aria-posinset={position}
      aria-setsize={of}
      aria-label={label}
      data-post={actionId}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: articles of a feed take the focus (ARIA, feed pattern)
      tabIndex={0}
    >
      {children}
    </article>
  )
}

function Card({ post }: { readonly post: Action }) {
  if (post.type === 'REPOST' && post.subject !== undefined)
    return <RepostCard post={post} subject={post.subject} />
  return <Shown post={post} />
}

function RepostCard({ post, subject }: { readonly post: Action; readonly subject: string }) {
  const { data: shown } = useQuery(postQuery(subject))
  return shown ? <Shown post={shown} repost={post} /> : <Shown post={post} />
}

function Shown({ post, repost }: { readonly post: Action; readonly repost?: Action }) {
  return (
    <div class={`card ${styles.card}`}>
      {repost && <Reposter post={repost} />}
      <div class={styles.top}>
        <PostHead post={post} />
        <PostMenu post={post} />
      </div>
      <PostBody post={post} />
      {post.status !== 'D' && <PostButtons post={post} />}
    </div>
  )
}

function Reposter({ post }: { readonly post: Action }) {
  const t = useTexts(postTexts)
  return (
    <div class={styles.reposter}>
      <Icon name="repeat-2" />
      <span>
        <Link href={`/profiles/${encodeURIComponent(post.issuerTag)}`}>
          <ShownName name={post.issuer.name} idTag={post.issuerTag} />
        </Link>{' '}
        {t.reposted}
      </span>
    </div>
  )
}

/** The name of a post for those who do not see it: author, text, time. */
export function usePostLabel(post: Action | undefined): string {
  const t = useTexts(postTexts)
  const locale = useLocale()
  if (!post) return t.post
  const { title, text } = contentOf(post)
  const said = excerptOf(title || text || t.post, 120)
  const age = formatAge(new Date(post.createdAt), new Date(), locale)
  return t.label(shownName(post.issuer.name, post.issuerTag), said.toWellFormed(), age)
}
