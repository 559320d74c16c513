import { isStalled, type Waiting } from '#platform/outbox.ts'
import { RichText } from '#ui/rich-text.tsx'
import { useStore } from '#ui/use-store.ts'
import { useTexts } from '#ui/use-texts.ts'
import styles from './thread.module.css'
import { threadTexts } from './thread-texts.ts'
import type { NewComment } from './waiting-comments.ts'

/** An own comment that the server does not have yet. */
export function WaitingComment({ waiting }: { readonly waiting: Waiting<NewComment> }) {
  const t = useTexts(threadTexts)
  const isWaiting = useStore(isStalled)
  return (
    <article class={`${styles.comment} ${styles.waiting}`} aria-label={t.own}>
      <RichText text={waiting.payload.text} />
      <p class="soft">{isWaiting ? t.waits : t.leaves}</p>
    </article>
  )
}
