import type { Action } from '@kith/protocol'
import { useQuery } from '@tanstack/preact-query'
import { useCallback, useEffect } from 'preact/hooks'
import { useLocation } from 'wouter-preact'
import { shownName } from '#lib/identity.ts'
import { Link } from '#ui/link.tsx'
import { ScreenState } from '#ui/query-state.tsx'
import { ScreenTitle } from '#ui/screen-title.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { CommentForm } from './comment-form.tsx'
import { postQuery } from './feed-query.ts'
import styles from './post.module.css'
import { PostBody } from './post-body.tsx'
import { PostButtons } from './post-buttons.tsx'
import { usePostLabel } from './post-card.tsx'
import { PostHead, postPath } from './post-head.tsx'
import { PostMenu } from './post-menu.tsx'
import { postTexts } from './post-texts.ts'
import { Thread } from './thread.tsx'
import { threadTexts } from './thread-texts.ts'
import { usePostKeys } from './use-post-keys.ts'

interface PostScreenProps {
  readonly params: Readonly<Record<string, string>>
}

/** A post and what was said about it. The address of a comment shows it in its thread. */
export function PostScreen({ params }: PostScreenProps) {
  const t = useTexts(postTexts)
  const { actionId = '' } = params
  const named = useQuery(postQuery(actionId))
  const target = named.data?.type === 'CMNT' ? named.data : undefined
  const rootId = target?.rootId ?? target?.parentId
  const above = useQuery({ ...postQuery(rootId ?? ''), enabled: rootId !== undefined })
  const root = rootId === undefined ? named : above
  useEffect(() => {
    if (!target) window.scrollTo(0, 0)
  }, [target])
  // A comment may be here without what it is about.
  if (target && above.isError) return <Shown post={target} />
  if (root.data) return <Shown post={root.data} target={target} />
  return <ScreenState title={t.post} query={root} heights={[240, 120]} />
}

function Shown({ post, target }: { readonly post: Action; readonly target?: Action | undefined }) {
  const t = useTexts(postTexts)
  const thread = useTexts(threadTexts)
  const [, navigate] = useLocation()
  const label = usePostLabel(post)
  usePostKeys(useCallback((actionId: string) => navigate(postPath(actionId)), [navigate]))
  return (
    <div class="stack">
      <ScreenTitle>{t.postOf(shownName(post.issuer.name, post.issuerTag))}</ScreenTitle>
      {target && (
        <p class="soft">
          {thread.wholeThread} <Link href={postPath(post.actionId)}>{t.post}</Link>
        </p>
      )}
      <article
        class={`card ${styles.card} ${styles.article}`}
        data-post={post.actionId}
        aria-label={label}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: `j` and `k` lead from the post to its comments
        tabIndex={0}
      >
        <div class={styles.top}>
          <PostHead post={post} />
          <PostMenu post={post} onDeleted={() => navigate('/')} />
        </div>
        <PostBody post={post} isWhole />
        {post.status !== 'D' && <PostButtons post={post} />}
      </article>
      <Thread root={post} target={target} />
      {post.status !== 'D' && (
        <CommentForm
          key={post.actionId}
          rootId={post.rootId ?? post.actionId}
          parentId={post.actionId}
          label={thread.write}
          takesFocus={history.state?.isAnswer === true}
        />
      )}
    </div>
  )
}
