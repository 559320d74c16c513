import type { Action } from '@kith/protocol'
import { shownName } from '#lib/identity.ts'
import { excerptOf } from '#lib/shown-text.ts'
import { ownIdTag } from '#platform/own-identity.ts'
import { Avatar } from '#ui/avatar.tsx'
import { Icon } from '#ui/icon.tsx'
import type { IconName } from '#ui/icon-names.ts'
import { Link } from '#ui/link.tsx'
import { Time } from '#ui/time.tsx'
import { useLocale, useTexts } from '#ui/use-texts.ts'
import { FileOffer } from './file-offer.tsx'
import { issuersOf, type NotificationGroup, type NotificationKind } from './group-notifications.ts'
import styles from './notifications.module.css'
import { notificationsTexts } from './notifications-texts.ts'
import { RequestButtons } from './request-buttons.tsx'

const icons: Readonly<Record<NotificationKind, IconName>> = {
  reaction: 'heart',
  comment: 'message-circle',
  mention: 'message-circle',
  repost: 'repeat-2',
  follow: 'user-plus',
  request: 'user-plus',
  connected: 'user-check',
  invitation: 'users',
  file: 'folder-open',
}

interface NotificationItemProps {
  readonly group: NotificationGroup
  readonly about: Action | undefined
  /** Its place in the list. */
  readonly index: number
}

/** One line: who did what, to what, when; what waits for an answer has its buttons. */
export function NotificationItem({ group, about, index }: NotificationItemProps) {
  const t = useTexts(notificationsTexts)
  const { key, kind, isNew, actions } = group
  const issuers = issuersOf(group)
  const names = useNamesOf(group)
  const [newest] = actions
  const [first] = issuers
  if (!newest || !first) return null
  const isOffer = newest.status === 'C'
  return (
    <li class={[styles.item, isNew ? styles.isNew : ''].join(' ')} data-key={key} data-index={index}>
      <span class={styles.who}>
        <Avatar
          idTag={first.idTag}
          name={first.name}
          hasPicture={first.profilePic !== undefined && !isOffer}
          size={44}
        />
        <span class={styles.kind}>
          <Icon name={icons[kind]} />
        </span>
      </span>
      <div class={styles.body}>
        <p>
          {isNew && <span class="visually-hidden">{t.isNew} </span>}
          <Said group={group} text={t[`said:${kind}`](names, issuers.length)} />{' '}
          <span class={styles.age}>
            <span aria-hidden="true">· </span>
            <Time iso={newest.createdAt} />
          </span>
        </p>
        <Excerpt group={group} about={about} />
        {kind === 'invitation' && <p class="soft">{newest.subject}</p>}
        {kind === 'file' && <FileOffer offer={newest} />}
        {isOffer && <RequestButtons request={newest} name={names} />}
      </div>
    </li>
  )
}

// Of more people the others are counted.
const namedAtMost = 2

function useNamesOf(group: NotificationGroup): string {
  const t = useTexts(notificationsTexts)
  const locale = useLocale()
  const names = issuersOf(group).map(({ idTag, name }) => shownName(name, idTag))
  const rest = names.length - 1
  const shown = names.length > namedAtMost ? [names[0] ?? '', t.others(rest)] : names
  return new Intl.ListFormat(locale).format(shown)
}

/** The sentence, as a link to what it is about. */
function Said({ group, text }: { readonly group: NotificationGroup; readonly text: string }) {
  const path = pathOf(group)
  const shown = <bdi>{text}</bdi>
  return path === undefined ? shown : <Link href={path}>{shown}</Link>
}

function pathOf({ kind, aboutId, actions: [newest] }: NotificationGroup): string | undefined {
  if (!newest) return undefined
  if (kind === 'mention' && newest.type !== 'CMNT') return `/posts/${newest.actionId}`
  if (kind === 'comment' || kind === 'mention') return `/posts/${newest.rootId ?? aboutId}`
  if (kind === 'file') return newest.status === 'C' ? undefined : filePath(newest)
  return aboutId === undefined ? `/profiles/${newest.issuerTag}` : `/posts/${aboutId}`
}

function filePath({ subject = '', content }: Action): string {
  const id = encodeURIComponent(subject)
  return content?.fileTp === 'FLDR' ? `/files/${id}` : `/files?open=${id}`
}

const excerptChars = 160

/** The beginning of what was written, or of what it is about. */
function Excerpt({ group: { kind, actions }, about }: Omit<NotificationItemProps, 'index'>) {
  const [newest] = actions
  const isSaid = kind === 'comment' || kind === 'mention'
  const source = isSaid ? newest : about
  const { text, message } = (source ?? newest)?.content ?? {}
  const shown =
    typeof text === 'string' && source
      ? text
      : kind === 'request' || kind === 'invitation' || kind === 'file'
        ? message
        : undefined
  if (typeof shown !== 'string' || shown === '') return null
  return (
    <p
      dir="auto"
      class={[styles.excerpt, isSaid || about?.issuerTag !== ownIdTag() ? '' : styles.own].join(' ')}
    >
      {excerptOf(shown, excerptChars)}
    </p>
  )
}
