import { useQuery } from '@tanstack/preact-query'
import { useTexts } from '#ui/use-texts.ts'
import { postQuery } from './feed-query.ts'
import styles from './post.module.css'
import { PostBody } from './post-body.tsx'
import { PostHead } from './post-head.tsx'
import { postTexts } from './post-texts.ts'

/** The post that another one shares. */
export function EmbeddedPost({ actionId }: { readonly actionId: string }) {
  const t = useTexts(postTexts)
  const { data: post, isError } = useQuery(postQuery(actionId))
  if (isError) return <p class={styles.embedded}>{t.absent}</p>
  if (!post) return <div class={styles.embedded} style={{ height: 120 }} />
  // What it shares in turn is a step further.
  const { subject: _, ...own } = post
  return (
    <div class={styles.embedded}>
      <PostHead post={post} size={32} />
      <PostBody post={own} />
    </div>
  )
}
