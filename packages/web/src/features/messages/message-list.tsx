import type { Action, Conversation } from '@kith/protocol'
import { useMemo, useState } from 'preact/hooks'
import { arrived } from '#platform/outbox.ts'
import { ownIdTag } from '#platform/own-identity.ts'
import { IconButton } from '#ui/button.tsx'
import { Problem } from '#ui/problem.tsx'
import { useStore } from '#ui/use-store.ts'
import { useTexts } from '#ui/use-texts.ts'
import { Arrivals } from './arrivals.tsx'
import { MessageItem } from './message-item.tsx'
import { messagesTexts } from './messages-texts.ts'
import { notShown, type Outgoing } from './sending.ts'
import styles from './thread.module.css'
import type { Thread } from './thread.ts'
import { DayLine, UnreadLine } from './thread-lines.tsx'
import { jumpToEnd, loadMore } from './thread-query.ts'
import { type Row, rowsOf } from './thread-rows.ts'
import { useMarkRead } from './use-mark-read.ts'
import { useMessageKeys } from './use-message-keys.ts'
import { useThreadScroll } from './use-thread-scroll.ts'
import { WaitingItem } from './waiting-item.tsx'

interface MessageListProps {
  readonly conversation: Conversation
  readonly thread: Thread
  readonly waiting: readonly Outgoing[]
  readonly onChoose: (message: Action) => void
  readonly onAnswer: (message: Action) => void
}

/** The messages, the oldest above; more are loaded as one scrolls towards an end. */
export function MessageList({ conversation, thread, waiting, onChoose, onAnswer }: MessageListProps) {
  const t = useTexts(messagesTexts)
  const { conversationId } = conversation
  const { messages, firstUnreadId, hasOlder, hasNewer } = thread
  const [problem, setProblem] = useState<unknown>()
  const rows = useMemo(
    () => rowsOf(messages, { ownTag: ownIdTag(), firstUnreadId }),
    [messages, firstUnreadId],
  )
  const known = useMemo(() => new Map(messages.map((one) => [one.actionId, one])), [messages])
  const ids = useStore(arrived)
  const rest = notShown(waiting, messages, ids)
  const seen = useMarkRead(conversation, messages)
  const load = (direction: 'older' | 'newer') => {
    setProblem(undefined)
    loadMore(conversationId, direction).catch(setProblem)
  }
  const { place, isAtEnd, onScroll, toEnd } = useThreadScroll({
    content: [rows, rest.length],
    hasOlder: hasOlder && problem === undefined,
    hasNewer: hasNewer && problem === undefined,
    load,
    seen,
  })
  const keys = useMessageKeys({ known, onChoose, onAnswer })
  const goToEnd = () => (hasNewer ? void jumpToEnd(conversationId).then(toEnd) : toEnd())
  return (
    <div class={styles.frame}>
      <section
        ref={place}
        class={styles.scroller}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keyboard
        tabIndex={0}
        aria-label={t.messages}
        onScroll={onScroll}
        {...keys}
      >
        {problem !== undefined && (
          <Problem error={problem} what={t.loadFailed} onAgain={() => load(hasOlder ? 'older' : 'newer')} />
        )}
        <ol class={styles.messages}>
          <Rows rows={rows} known={known} conversation={conversation} onChoose={onChoose} />
          {rest.map((one) => (
            <WaitingItem key={one.key} outgoing={one} conversation={conversation} />
          ))}
        </ol>
      </section>
      {(!isAtEnd || hasNewer) && (
        <IconButton icon="chevron-down" label={t.toEnd} class={styles.toEnd} onClick={goToEnd} />
      )}
      <Arrivals messages={messages} isEnd={!hasNewer} />
    </div>
  )
}

interface RowsProps {
  readonly rows: readonly Row[]
  readonly known: ReadonlyMap<string, Action>
  readonly conversation: Conversation
  readonly onChoose: (message: Action) => void
}

function Rows({ rows, ...shared }: RowsProps) {
  return rows.map((row) => {
    if (row.kind === 'day') return <DayLine key={row.key} date={row.date} />
    if (row.kind === 'unread') return <UnreadLine key={row.key} />
    return <MessageItem key={row.key} row={row} {...shared} />
  })
}
