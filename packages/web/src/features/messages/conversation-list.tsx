import type { Conversation } from '@kith/protocol'
import { useInfiniteQuery } from '@tanstack/preact-query'
import { useRef } from 'preact/hooks'
import { shownName } from '#lib/identity.ts'
import { Button, IconButton } from '#ui/button.tsx'
import { Empty } from '#ui/empty.tsx'
import { QueryState } from '#ui/query-state.tsx'
import { Refresh } from '#ui/refresh.tsx'
import { ScreenTitle } from '#ui/screen-title.tsx'
import { useListKeys } from '#ui/use-list-keys.ts'
import { useTexts } from '#ui/use-texts.ts'
import { ConversationRow } from './conversation-row.tsx'
import { conversationList, conversationsOf } from './conversations-query.ts'
import styles from './messages.module.css'
import { messagesTexts } from './messages-texts.ts'

interface ConversationListProps {
  /** Which one is shown beside it. */
  readonly shownId: string | undefined
  readonly onStart: () => void
}

/** All conversations, and a way to begin one. */
export function ConversationList({ shownId, onStart }: ConversationListProps) {
  const t = useTexts(messagesTexts)
  const list = useInfiniteQuery(conversationList)
  const conversations = conversationsOf(list.data)
  return (
    <>
      <header class={styles.head}>
        {shownId === undefined ? <ScreenTitle>{t.messages}</ScreenTitle> : <h2>{t.messages}</h2>}
        {shownId === undefined && <Refresh of={[conversationList.queryKey]} isLive />}
        <IconButton icon="square-pen" label={t.start} onClick={onStart} />
      </header>
      <QueryState query={list} heights={[64, 64, 64, 64]} />
      {list.data && conversations.length === 0 && (
        <Empty
          icon="messages-square"
          title={t.empty}
          step={
            <Button kind="primary" icon="square-pen" onClick={onStart}>
              {t.start}
            </Button>
          }
        >
          {t.emptyWhy}
        </Empty>
      )}
      {conversations.length > 0 && <Rows conversations={conversations} shownId={shownId} />}
      {list.hasNextPage && (
        <Button isBusy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          {t.older}
        </Button>
      )}
    </>
  )
}

interface RowsProps extends Pick<ConversationListProps, 'shownId'> {
  readonly conversations: readonly Conversation[]
}

function Rows({ conversations, shownId }: RowsProps) {
  const list = useRef<HTMLUListElement>(null)
  const onKeyDown = useListKeys(list, { names: conversations.map(nameOf) })
  return (
    <ul ref={list} class={styles.conversations} onKeyDown={onKeyDown}>
      {conversations.map((one, index) => (
        <ConversationRow
          key={one.conversationId}
          conversation={one}
          index={index}
          isShown={isNamed(one, shownId)}
        />
      ))}
    </ul>
  )
}

function nameOf({ participants: [first] }: Conversation): string {
  return first ? shownName(first.name, first.idTag) : ''
}

/** Whether an address means this conversation: by its id, or by the identity with whom it is. */
function isNamed({ conversationId, participants }: Conversation, named: string | undefined): boolean {
  return conversationId === named || (participants.length === 1 && participants[0]?.idTag === named)
}
