import { type Action, deleteAction } from '@kith/protocol'
import { client } from '#platform/client.ts'
import { copyText } from '#platform/copy-text.ts'
import { notify } from '#platform/notices.ts'
import { ownIdTag } from '#platform/own-identity.ts'
import { queries } from '#platform/query.ts'
import { Button } from '#ui/button.tsx'
import { Dialog } from '#ui/dialog.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { messagesKey } from './conversations-query.ts'
import { MessageState } from './message-state.tsx'
import { textOf } from './message-text.ts'
import { messagesTexts } from './messages-texts.ts'
import styles from './thread.module.css'
import { withoutMessage } from './thread.ts'
import { changeThreads } from './thread-query.ts'

interface MessageActionsProps {
  readonly message: Action
  /** Whether the other side has seen it, or a later one. */
  readonly isSeen: boolean
  readonly onAnswer: (message: Action) => void
  readonly onClose: () => void
}

/** What can be done with one message. */
export function MessageActions({ message, isSeen, onAnswer, onClose }: MessageActionsProps) {
  const t = useTexts(messagesTexts)
  const closing = (act: () => void) => () => {
    onClose()
    act()
  }
  const remove = () => removeMessage(message.actionId).catch(() => notify(t.notRemoved, { kind: 'failed' }))
  const isOwn = message.issuerTag === ownIdTag()
  return (
    <Dialog title={t.message} onClose={onClose}>
      <p dir="auto" class={styles.excerpt}>
        {textOf(message)}
      </p>
      {isOwn && <MessageState message={message} isSeen={isSeen} />}
      <div class={styles.actions}>
        <Button icon="undo-2" onClick={closing(() => onAnswer(message))}>
          {t.answer}
        </Button>
        <Button icon="copy" onClick={closing(() => void copyText(textOf(message), t))}>
          {t.copy}
        </Button>
        <Button icon="trash-2" kind="danger" onClick={closing(() => void remove())}>
          {isOwn ? t.remove1 : t.removeOthers}
        </Button>
      </div>
    </Dialog>
  )
}

/** Takes a message away at once, and back in when the server does not delete it. */
async function removeMessage(actionId: string): Promise<void> {
  changeThreads((thread) => withoutMessage(thread, actionId))
  try {
    await client.call(deleteAction, { params: { actionId } })
  } finally {
    await queries.invalidateQueries({ queryKey: messagesKey })
  }
}
