import type { Conversation } from '@kith/protocol'
import { useLocation } from 'wouter-preact'
import { offlineSince } from '#platform/offline.ts'
import { Avatar } from '#ui/avatar.tsx'
import { Icon } from '#ui/icon.tsx'
import { Link } from '#ui/link.tsx'
import { Menu } from '#ui/menu.tsx'
import { ScreenTitle } from '#ui/screen-title.tsx'
import { useStore } from '#ui/use-store.ts'
import { useTexts } from '#ui/use-texts.ts'
import { messagesTexts } from './messages-texts.ts'
import styles from './thread.module.css'
import { useNames } from './use-names.ts'

/** Who takes part in a conversation, with the full identity of a single one. */
export function ThreadHead({ conversation }: { readonly conversation: Conversation }) {
  const t = useTexts(messagesTexts)
  const { participants, request } = conversation
  const names = useNames(participants)
  const [first] = participants
  const [, navigate] = useLocation()
  const isOffline = useStore(offlineSince) !== undefined
  return (
    <header class={styles.head}>
      <Link href="/messages" class={styles.back} aria-label={t.back} title={t.back}>
        <Icon name="arrow-left" />
      </Link>
      <Avatar
        idTag={first?.idTag ?? ''}
        name={names}
        hasPicture={first?.profilePic !== undefined && !request}
      />
      <div class={styles.title}>
        <ScreenTitle>
          <bdi>{names}</bdi>
        </ScreenTitle>
        {isOffline && <span class="soft">{t.offline}</span>}
        {!isOffline && participants.length === 1 && <span class="soft">{first?.idTag}</span>}
        {!isOffline && participants.length > 1 && (
          <span class="soft">{t.ofSeveral(participants.length + 1)}</span>
        )}
      </div>
      <Menu
        label={t.participants}
        icon="users"
        items={() =>
          participants.map(({ idTag, name }) => ({
            label: name.trim() || idTag,
            icon: 'user',
            run: () => navigate(`/profiles/${encodeURIComponent(idTag)}`),
          }))
        }
      />
    </header>
  )
}
