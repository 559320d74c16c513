import { useState } from 'preact/hooks'
import { Empty } from '#ui/empty.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { ConversationList } from './conversation-list.tsx'
import { ConversationPlace } from './conversation-place.tsx'
import styles from './messages.module.css'
import { messagesTexts } from './messages-texts.ts'
import { NewConversation } from './new-conversation.tsx'

interface MessagesScreenProps {
  /** `conversationId`: of a conversation, or the identity with whom to write. */
  readonly params: Readonly<Record<string, string>>
}

/** The conversations, and one of them: beside each other where there is room, one after the other on a phone. */
export function MessagesScreen({ params: { conversationId } }: MessagesScreenProps) {
  const t = useTexts(messagesTexts)
  const [isStarting, setStarting] = useState(false)
  return (
    <div class={styles.screen} data-layout="wide">
      <div class={[styles.list, conversationId === undefined ? '' : styles.wideOnly].join(' ')}>
        <ConversationList shownId={conversationId} onStart={() => setStarting(true)} />
      </div>
      <div class={[styles.thread, conversationId === undefined ? styles.wideOnly : ''].join(' ')}>
        {conversationId === undefined ? (
          <Empty icon="messages-square" title={t.choose}>
            {t.chooseWhy}
          </Empty>
        ) : (
          <ConversationPlace key={conversationId} named={conversationId} />
        )}
      </div>
      {isStarting && <NewConversation onClose={() => setStarting(false)} />}
    </div>
  )
}
