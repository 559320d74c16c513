import { KithError } from '@kith/client'
import type { Conversation } from '@kith/protocol'
import { discard, isStalled, sendAgain } from '#platform/outbox.ts'
import { Button } from '#ui/button.tsx'
import { useExplain } from '#ui/problem.tsx'
import { RichText } from '#ui/rich-text.tsx'
import { useStore } from '#ui/use-store.ts'
import { useTexts } from '#ui/use-texts.ts'
import { MessageFoot } from './message-foot.tsx'
import { messagesTexts } from './messages-texts.ts'
import type { Outgoing } from './sending.ts'
import styles from './thread.module.css'
import { useNames } from './use-names.ts'

interface WaitingItemProps {
  readonly outgoing: Outgoing
  readonly conversation: Conversation
}

/** An own message that the server does not have yet. */
export function WaitingItem({ outgoing, conversation }: WaitingItemProps) {
  const t = useTexts(messagesTexts)
  const explain = useExplain()
  const { key, payload, createdAt, refusal } = outgoing
  const { message } = payload
  const names = useNames(conversation.participants)
  const isForbidden = refusal?.code === 'E-AUTH-FORBIDDEN'
  const isWaiting = useStore(isStalled)
  return (
    <li class={[styles.message, styles.own, styles.first].join(' ')}>
      <div class={[styles.bubble, styles.waiting].join(' ')}>
        <bdi class="visually-hidden">{t.you}</bdi>
        {message.attachments && <p>{t.pictures(message.attachments.length)}</p>}
        <RichText text={String(message.content?.text ?? '')} />
        <MessageFoot createdAt={new Date(createdAt).toISOString()} tick={refusal ? undefined : 'waiting'} />
      </div>
      {isWaiting && !refusal && <p class={styles.waits}>{t.waits}</p>}
      {refusal && (
        <div class={styles.failed} role="alert">
          <span>
            {isForbidden ? t.takenFromKnown(names) : `${t.failed}. ${explain(new KithError('', refusal))}`}
          </span>
          <Button icon="refresh-cw" onClick={() => void sendAgain(key)}>
            {t.sendAgain}
          </Button>
          <Button kind="quiet" onClick={() => void discard(key)}>
            {t.discard}
          </Button>
        </div>
      )}
    </li>
  )
}
