import type { Action, Conversation } from '@kith/protocol'
import { useQuery } from '@tanstack/preact-query'
import { useEffect, useState } from 'preact/hooks'
import { outbox } from '#platform/outbox.ts'
import { Empty } from '#ui/empty.tsx'
import { QueryState } from '#ui/query-state.tsx'
import { useStore } from '#ui/use-store.ts'
import { useTexts } from '#ui/use-texts.ts'
import { Composer } from './composer.tsx'
import { MessageActions } from './message-actions.tsx'
import { MessageList } from './message-list.tsx'
import { MessageRequest } from './message-request.tsx'
import { messagesTexts } from './messages-texts.ts'
import { outgoingOf, shownThreads } from './sending.ts'
import styles from './thread.module.css'
import { ThreadHead } from './thread-head.tsx'
import { threadOf } from './thread-query.ts'
import { isSeen } from './thread-rows.ts'
import { useBegunGroup } from './use-begun-group.ts'
import { useNames } from './use-names.ts'

interface ThreadViewProps {
  readonly conversationId: string
  readonly conversation: Conversation
}

/** A conversation: who takes part, what was said, and where one writes. */
export function ThreadView({ conversationId, conversation }: ThreadViewProps) {
  const t = useTexts(messagesTexts)
  const thread = useQuery(threadOf(conversationId))
  const waiting = outgoingOf(useStore(outbox), conversationId)
  const names = useNames(conversation.participants)
  const [answered, setAnswered] = useState<Action>()
  const [chosen, setChosen] = useState<Action>()
  const [isAnswering, setAnswering] = useState(false)
  useBegunGroup(conversation)
  useShownThread(conversationId)
  const isRequest = conversation.request === true && waiting.length === 0
  return (
    <section class={styles.pane} data-covers="top" aria-label={t.thread(names)}>
      <ThreadHead conversation={conversation} />
      {!thread.data && <QueryState query={thread} heights={[48, 96, 48, 64]} />}
      {thread.data === null && waiting.length === 0 && (
        <div class={styles.center}>
          <Empty icon="message-circle" title={t.first}>
            {t.firstWhy(names)}
          </Empty>
        </div>
      )}
      {(thread.data || waiting.length > 0) && (
        <MessageList
          conversation={conversation}
          thread={thread.data ?? { messages: [], hasOlder: false, hasNewer: false }}
          waiting={waiting}
          onChoose={setChosen}
          onAnswer={setAnswered}
        />
      )}
      {isRequest && !isAnswering ? (
        <MessageRequest conversation={conversation} onAnswer={() => setAnswering(true)} />
      ) : (
        <Composer
          conversation={conversation}
          answered={answered}
          isFocused={isAnswering}
          onAnswered={() => setAnswered(undefined)}
        />
      )}
      {chosen && (
        <MessageActions
          message={chosen}
          isSeen={isSeen(chosen, thread.data?.messages ?? [])}
          onAnswer={setAnswered}
          onClose={() => setChosen(undefined)}
        />
      )}
    </section>
  )
}

/** What is refused while its conversation is shown is told there. */
function useShownThread(conversationId: string): void {
  useEffect(() => {
    shownThreads.add(conversationId)
    return () => void shownThreads.delete(conversationId)
  }, [conversationId])
}
