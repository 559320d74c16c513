import type { Action } from '@kith/protocol'
import { useQuery } from '@tanstack/preact-query'
import { useEffect, useRef, useState } from 'preact/hooks'
import { shownName } from '#lib/identity.ts'
import { Button } from '#ui/button.tsx'
import { ShownName } from '#ui/rich-text.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { draftOf } from './comment-drafts.ts'
import { CommentForm } from './comment-form.tsx'
import { postQuery } from './feed-query.ts'
import { PostBody } from './post-body.tsx'
import { usePostLabel } from './post-card.tsx'
import { PostHead } from './post-head.tsx'
import { PostMenu } from './post-menu.tsx'
import { ReactionPicker } from './reaction-picker.tsx'
import styles from './thread.module.css'
import { threadTexts } from './thread-texts.ts'

interface CommentProps {
  readonly actionId: string
  readonly root: Pick<Action, 'actionId' | 'issuerTag'>
  readonly depth: number
  /** The comment that it answers, where its place does not say so. */
  readonly answers?: string | undefined
  /** Whether the address names it. */
  readonly isTarget: boolean
}

/** A comment, with the form of an answer below it once that is asked for. */
export function Comment({ actionId, root, depth, answers, isTarget }: CommentProps) {
  const { data: comment } = useQuery(postQuery(actionId))
  const label = usePostLabel(comment)
  const article = useRef<HTMLElement>(null)
  useEffect(() => {
    if (isTarget) article.current?.focus()
  }, [isTarget])
  return (
    <article
      ref={article}
      class={styles.comment}
      data-depth={depth}
      data-post={actionId}
      aria-label={label}
      aria-current={isTarget ? 'true' : undefined}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: `j` and `k` lead from comment to comment
      tabIndex={0}
    >
      {comment && <Said comment={comment} root={root} answers={answers} />}
    </article>
  )
}

type SaidProps = Pick<CommentProps, 'root' | 'answers'> & { readonly comment: Action }

function Said({ comment, root, answers }: SaidProps) {
  const t = useTexts(threadTexts)
  const [isAnswering, setAnswering] = useState(draftOf(comment.actionId).get() !== '')
  const name = shownName(comment.issuer.name, comment.issuerTag)
  return (
    <>
      <div class={styles.top}>
        <PostHead post={comment} size={32} />
        <PostMenu post={comment} rootIssuer={root.issuerTag} />
      </div>
      {answers !== undefined && <InAnswerTo actionId={answers} />}
      <PostBody post={comment} />
      {comment.status !== 'D' && (
        <div class={styles.buttons}>
          <ReactionPicker post={comment} />
          <Button
            kind="quiet"
            data-task="answer"
            aria-expanded={isAnswering}
            aria-label={t.answerLong(name)}
            onClick={() => setAnswering(!isAnswering)}
          >
            {t.answer}
          </Button>
        </div>
      )}
      {isAnswering && (
        <CommentForm
          rootId={root.actionId}
          parentId={comment.actionId}
          label={t.answerTo(name)}
          takesFocus
          onSent={() => setAnswering(false)}
        />
      )}
    </>
  )
}

function InAnswerTo({ actionId }: { readonly actionId: string }) {
  const t = useTexts(threadTexts)
  const { data: parent } = useQuery(postQuery(actionId))
  return (
    <p class={styles.answers}>
      {t.inAnswerTo}{' '}
      {parent ? <ShownName name={parent.issuer.name} idTag={parent.issuerTag} /> : t.absentParent}
    </p>
  )
}
