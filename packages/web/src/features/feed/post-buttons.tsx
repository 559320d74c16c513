import type { Action } from '@kith/protocol'
import { Icon } from '#ui/icon.tsx'
import { Link } from '#ui/link.tsx'
import { useExplain } from '#ui/problem.tsx'
import { useServerReason } from '#ui/use-server-reason.ts'
import { useStore } from '#ui/use-store.ts'
import { useTexts } from '#ui/use-texts.ts'
import { bookmarks, ownIdTag, reposts } from './feed-query.ts'
import { keepBookmark, keepRepost } from './post-actions.ts'
import styles from './post-buttons.module.css'
import { postPath } from './post-head.tsx'
import { postTexts } from './post-texts.ts'
import { ReactionPicker } from './reaction-picker.tsx'

/** What one can do with a post: react, comment, share, bookmark. */
export function PostButtons({ post }: { readonly post: Action }) {
  const t = useTexts(postTexts)
  const comments = post.stat.comments ?? 0
  const name = comments > 0 ? `${t.comment}, ${t.comments(comments)}` : t.comment
  return (
    <div class={styles.bar}>
      <ReactionPicker post={post} />
      <Link
        href={postPath(post.actionId)}
        state={{ isAnswer: true }}
        class={styles.button}
        aria-label={name}
        title={t.comment}
        data-task="answer"
      >
        <Icon name="message-circle" />
        {comments > 0 && <span>{comments}</span>}
      </Link>
      <RepostButton post={post} />
      <BookmarkButton actionId={post.actionId} />
    </div>
  )
}

/** For posts that everybody may read, and which are not one's own. */
function RepostButton({ post }: { readonly post: Action }) {
  const t = useTexts(postTexts)
  const explain = useExplain()
  const why = useServerReason()
  const known = useStore(reposts)
  if (post.visibility !== 'P' || post.type !== 'POST' || post.issuerTag === ownIdTag()) return null
  const ownId = known?.[post.actionId]
  const shares = post.stat.shares ?? 0
  const name = ownId === undefined ? t.repost : t.repostUndo
  return (
    <button
      type="button"
      class={styles.button}
      aria-pressed={ownId !== undefined}
      aria-label={shares > 0 ? `${name}, ${t.reposts(shares)}` : name}
      title={why ?? name}
      aria-disabled={why === undefined ? undefined : 'true'}
      aria-busy={ownId === 'sending'}
      onClick={() =>
        why === undefined && ownId !== 'sending' && void keepRepost(post, ownId === undefined, explain)
      }
    >
      <Icon name="repeat-2" />
      {shares > 0 && <span>{shares}</span>}
    </button>
  )
}

function BookmarkButton({ actionId }: { readonly actionId: string }) {
  const t = useTexts(postTexts)
  const explain = useExplain()
  const kept = useStore(bookmarks)
  const isKept = kept?.includes(actionId) ?? false
  return (
    <button
      type="button"
      class={styles.button}
      aria-pressed={isKept}
      aria-label={t.bookmark}
      title={t.bookmark}
      data-task="bookmark"
      onClick={() => void keepBookmark(actionId, !isKept, explain)}
    >
      <Icon name="bookmark" />
    </button>
  )
}
