import type { Action, Conversation } from '@kith/protocol'
import { useQuery } from '@tanstack/preact-query'
import { shownName } from '#lib/identity.ts'
import { IconButton } from '#ui/button.tsx'
import { Mismatched } from '#ui/mismatched.tsx'
import { RichText } from '#ui/rich-text.tsx'
import { Unverified } from '#ui/unverified.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { AnsweredMessage } from './answered-message.tsx'
import { deliveriesOf } from './deliveries-query.ts'
import { MessageFailure } from './message-failure.tsx'
import { MessageFiles } from './message-files.tsx'
import { MessageFoot } from './message-foot.tsx'
import { textOf } from './message-text.ts'
import { messagesTexts } from './messages-texts.ts'
import styles from './thread.module.css'
import type { Row } from './thread-rows.ts'

interface MessageItemProps {
  readonly row: Extract<Row, { kind: 'message' }>
  readonly conversation: Conversation
  /** The messages that are loaded, by id. */
  readonly known: ReadonlyMap<string, Action>
  readonly onChoose: (message: Action) => void
}

/** A message: own ones stand at the end of the line. */
export function MessageItem({ row, conversation, known, onChoose }: MessageItemProps) {
  const t = useTexts(messagesTexts)
  const { message, isOwn, isFirst, isSeen, isFollowed } = row
  const { data: deliveries } = useQuery({ ...deliveriesOf(message), enabled: isFollowed })
  const stopped = (isFollowed && deliveries?.filter(({ state }) => state === 'stopped')) || []
  const tick = isOwn ? (stopped.length > 0 ? 'undelivered' : isSeen ? 'seen' : 'sent') : undefined
  const name = isOwn ? t.you : shownName(message.issuer.name, message.issuerTag)
  const isNamed = isFirst && !isOwn && conversation.participants.length > 1
  const answeredId = message.parentId === conversation.rootId ? undefined : message.parentId
  const count = message.attachments?.length ?? 0
  return (
    <li
      class={[styles.message, isOwn ? styles.own : '', isFirst ? styles.first : ''].join(' ')}
      data-message={message.actionId}
      tabIndex={-1}
    >
      <div class={styles.bubble}>
        <bdi class={isNamed ? styles.name : 'visually-hidden'}>{name}</bdi>
        {answeredId !== undefined && <AnsweredMessage actionId={answeredId} known={known} />}
        {message.mismatched && <Mismatched />}
        {conversation.request && count > 0 ? (
          <p class="soft">{t.hidden(count)}</p>
        ) : (
          <MessageFiles files={message.files ?? []} />
        )}
        <RichText text={textOf(message)} />
        {message.unverified && <Unverified />}
        <MessageFoot createdAt={message.createdAt} tick={tick} />
      </div>
      <IconButton icon="ellipsis" label={t.actions(name)} tabIndex={-1} onClick={() => onChoose(message)} />
      {stopped.length > 0 && <MessageFailure deliveries={stopped} />}
    </li>
  )
}
