import { useId, useLayoutEffect, useRef } from 'preact/hooks'
import { sendLater } from '#platform/outbox.ts'
import { Button } from '#ui/button.tsx'
import { useStore } from '#ui/use-store.ts'
import { useTexts } from '#ui/use-texts.ts'
import { draftOf, keepDraft, lengthOf, maxCommentLength } from './comment-drafts.ts'
import styles from './thread.module.css'
import { threadTexts } from './thread-texts.ts'
import { newComment } from './waiting-comments.ts'

interface CommentFormProps {
  readonly rootId: string
  readonly parentId: string
  readonly label: string
  readonly takesFocus?: boolean
  readonly onSent?: () => void
}

/** Where a comment is written. What is in it stays until it is sent. */
export function CommentForm({ rootId, parentId, label, takesFocus = false, onSent }: CommentFormProps) {
  const t = useTexts(threadTexts)
  const id = useId()
  const field = useRef<HTMLTextAreaElement>(null)
  const { text, change, send } = useComment(rootId, parentId, onSent)
  useLayoutEffect(() => {
    if (takesFocus) field.current?.focus()
  }, [takesFocus])
  const length = lengthOf(text)
  const isTooLong = length > maxCommentLength
  const submit = (event: Event) => {
    event.preventDefault()
    if (text.trim() !== '' && !isTooLong) send()
    else field.current?.focus()
  }
  return (
    <form class={styles.form} onSubmit={submit}>
      <label for={id}>{label}</label>
      <textarea
        ref={field}
        id={id}
        dir="auto"
        rows={2}
        value={text}
        aria-invalid={isTooLong ? 'true' : undefined}
        aria-describedby={isTooLong ? `${id}-problem` : undefined}
        onInput={(event) => change(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) submit(event)
        }}
      />
      {isTooLong && (
        <p id={`${id}-problem`} role="alert" class={styles.problem}>
          {t.tooLong(length, maxCommentLength)}
        </p>
      )}
      <Button kind="primary" type="submit" icon="send">
        {t.send}
      </Button>
    </form>
  )
}

function useComment(rootId: string, parentId: string, onSent: (() => void) | undefined) {
  const text = useStore(draftOf(parentId))
  return {
    text,
    change: (to: string) => keepDraft(parentId, to),
    send: () => {
      void sendLater({ kind: 'comment', payload: newComment(rootId, parentId, text) })
      keepDraft(parentId, '')
      onSent?.()
    },
  }
}
