import type { Action, Conversation } from '@kith/protocol'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { shownName } from '#lib/identity.ts'
import { excerptOf } from '#lib/shown-text.ts'
import { outbox } from '#platform/outbox.ts'
import { Button, IconButton } from '#ui/button.tsx'
import { useStore } from '#ui/use-store.ts'
import { useTexts } from '#ui/use-texts.ts'
import { AttachButton } from './attach-button.tsx'
import { AttachmentList } from './attachment-list.tsx'
import styles from './composer.module.css'
import { draftOf, keepDraft } from './drafts.ts'
import { textOf } from './message-text.ts'
import { messagesTexts } from './messages-texts.ts'
import { newMessage } from './new-message.ts'
import { outgoingOf, send } from './sending.ts'
import { useAttachments } from './use-attachments.ts'
import { isUnbegun } from './use-begun-group.ts'

interface ComposerProps {
  readonly conversation: Conversation
  /** The message that is answered. */
  readonly answered: Action | undefined
  /** Takes the focus when it appears. */
  readonly isFocused: boolean
  readonly onAnswered: () => void
}

/** Where a message is written: grows with it, Enter sends, Shift and Enter begin a line. */
export function Composer({ conversation, answered, isFocused, onAnswered }: ComposerProps) {
  const t = useTexts(messagesTexts)
  const { conversationId } = conversation
  const [text, setText] = useState(() => draftOf(conversationId))
  const { attachments, add, describe, remove, clear } = useAttachments()
  const field = useRef<HTMLTextAreaElement>(null)
  useLayoutEffect(() => {
    if (isFocused || answered) field.current?.focus()
  }, [isFocused, answered])
  const write = (next: string) => {
    setText(next)
    keepDraft(conversationId, next)
  }
  const [first] = outgoingOf(useStore(outbox), conversationId)
  // What follows answers the first message of several, which has to have an id for that.
  const isBeginning = first !== undefined && isUnbegun(conversation)
  const isUploading = attachments.some(({ fileId }) => fileId === undefined)
  const submit = () => {
    if (isUploading || isBeginning || (text.trim() === '' && attachments.length === 0)) return
    send({ conversationId, message: newMessage(conversation, { text, attachments, answered }) })
    write('')
    clear()
    onAnswered()
    field.current?.focus()
  }
  return (
    <form
      class={styles.composer}
      onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}
      onPaste={(event) => add(event.clipboardData?.files)}
    >
      {answered && <Answered message={answered} onCancel={onAnswered} />}
      <AttachmentList attachments={attachments} onDescribe={describe} onRemove={remove} />
      <div class={styles.line}>
        <AttachButton onChoose={add} />
        <GrowingField field={field} text={text} onWrite={write} onEnter={submit} />
        <Button
          kind="primary"
          icon="send"
          type="submit"
          aria-label={t.sendIt}
          disabledWhy={isUploading ? t.uploading : isBeginning ? t.beginning : undefined}
        >
          <span class={styles.sendWord}>{t.sendIt}</span>
        </Button>
      </div>
    </form>
  )
}

function Answered({ message, onCancel }: { readonly message: Action; readonly onCancel: () => void }) {
  const t = useTexts(messagesTexts)
  return (
    <div class={styles.answered}>
      <div>
        <strong>{t.answering(shownName(message.issuer.name, message.issuerTag))}</strong>
        <p dir="auto">{excerptOf(textOf(message), 140)}</p>
      </div>
      <IconButton icon="x" label={t.noAnswer} onClick={onCancel} />
    </div>
  )
}

interface GrowingFieldProps {
  readonly field: { current: HTMLTextAreaElement | null }
  readonly text: string
  readonly onWrite: (text: string) => void
  readonly onEnter: () => void
}

function GrowingField({ field, text, onWrite, onEnter }: GrowingFieldProps) {
  const t = useTexts(messagesTexts)
  useEffect(() => {
    const element = field.current
    if (!element) return
    element.style.height = 'auto'
    element.style.height = `${element.scrollHeight + 2}px`
  }, [field, text])
  return (
    <textarea
      ref={field}
      class={styles.field}
      rows={1}
      dir="auto"
      value={text}
      aria-label={t.write}
      placeholder={t.write}
      enterkeyhint="send"
      onInput={(event) => onWrite(event.currentTarget.value)}
      onKeyDown={(event) => {
        // Enter that ends the composition of a character sends nothing.
        if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
        event.preventDefault()
        onEnter()
      }}
    />
  )
}
