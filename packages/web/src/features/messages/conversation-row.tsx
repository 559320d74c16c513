import type { Conversation } from '@kith/protocol'
import { shownName } from '#lib/identity.ts'
import { excerptOf } from '#lib/shown-text.ts'
import { ownIdTag } from '#platform/own-identity.ts'
import { Avatar } from '#ui/avatar.tsx'
import { Link } from '#ui/link.tsx'
import { Time } from '#ui/time.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { textOf } from './message-text.ts'
import styles from './messages.module.css'
import { messagesTexts } from './messages-texts.ts'
import { useNames } from './use-names.ts'

interface ConversationRowProps {
  readonly conversation: Conversation
  readonly isShown: boolean
  /** Its place in the list. */
  readonly index: number
}

/** A conversation in the list: with whom, the last words, and what is unread. */
export function ConversationRow({ conversation, isShown, index }: ConversationRowProps) {
  const t = useTexts(messagesTexts)
  const { conversationId, participants, unread, updatedAt, request } = conversation
  const names = useNames(participants)
  const [first] = participants
  return (
    <li data-index={index}>
      <Link
        href={`/messages/${conversationId}`}
        class={styles.row}
        aria-current={isShown ? 'true' : undefined}
      >
        <Avatar
          idTag={first?.idTag ?? ''}
          name={names}
          hasPicture={first?.profilePic !== undefined && !request}
          size={48}
        />
        <span class={styles.names}>
          <bdi class={unread > 0 ? styles.isUnread : ''}>{names}</bdi>
          <span class={styles.age}>
            <Time iso={updatedAt} />
          </span>
        </span>
        <span class={styles.last}>
          <LastWords conversation={conversation} />
          {request && <span class={styles.request}>{t.request}</span>}
          {unread > 0 && (
            <span class={styles.count}>
              <span aria-hidden="true">{unread > 99 ? '99+' : unread}</span>
              <span class="visually-hidden">{t.unread(unread)}</span>
            </span>
          )}
        </span>
      </Link>
    </li>
  )
}

// More of a text than a line shows.
const shownChars = 120

function LastWords({ conversation: { lastMessage, participants } }: { readonly conversation: Conversation }) {
  const t = useTexts(messagesTexts)
  if (!lastMessage) return <span class={styles.words} />
  const text = excerptOf(textOf(lastMessage), shownChars) || t.pictures(lastMessage.attachments?.length ?? 0)
  const isOwn = lastMessage.issuerTag === ownIdTag()
  const said =
    participants.length > 1 ? t.said(shownName(lastMessage.issuer.name, lastMessage.issuerTag), text) : text
  return <bdi class={styles.words}>{isOwn ? t.own(text) : said}</bdi>
}
