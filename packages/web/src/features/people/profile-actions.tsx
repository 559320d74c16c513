import type { Profile, RelationshipChange } from '@kith/protocol'
import { useQuery } from '@tanstack/preact-query'
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { shownName } from '#lib/identity.ts'
import { ownIdTag } from '#platform/own-identity.ts'
import { Button, IconButton } from '#ui/button.tsx'
import { ButtonLink } from '#ui/button-link.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { ConnectDialog } from './connect-dialog.tsx'
import { EndDialog } from './end-dialog.tsx'
import { MoreDialog } from './more-dialog.tsx'
import { connectionRequests } from './people-query.ts'
import { peopleTexts } from './people-texts.ts'
import { isBlocked } from './relationship.ts'
import { AnswerButtons } from './requests.tsx'
import { useRelationship } from './use-relationship.ts'

type Opened = 'connect' | 'end' | 'more'

interface ProfileActionsProps {
  readonly profile: Profile
  /** On the screen of the community itself, which need not be linked to. */
  readonly isAtCommunity?: boolean
  /** What can be done besides, before the rest. */
  readonly children?: ComponentChildren
}

/** What can be done about an identity, the likeliest first. */
export function ProfileActions({ profile, isAtCommunity = false, children }: ProfileActionsProps) {
  const t = useTexts(peopleTexts)
  const name = shownName(profile.name, profile.idTag)
  const relationship = useRelationship(profile.idTag, name)
  const [opened, setOpened] = useState<Opened>()
  const close = () => setOpened(undefined)
  const change = (wanted: RelationshipChange, message?: string) => {
    close()
    relationship.mutate({ change: wanted, ...(message ? { message } : {}) })
  }
  const dialog = { name, profile, onClose: close, onChange: change }
  return (
    <>
      {isBlocked(profile.status) && <p class="soft">{t.blockedWhy}</p>}
      {profile.status === 'Muted' && <p class="soft">{t.mutedWhy}</p>}
      <div class="row">
        {children}
        {isBlocked(profile.status) ? (
          <Button needsServer onClick={() => change('unblock')}>
            {t.unblock}
          </Button>
        ) : (
          <Usual {...{ profile, name, isAtCommunity }} onOpen={setOpened} onChange={change} />
        )}
        <IconButton icon="ellipsis" label={t.moreAbout(name)} onClick={() => setOpened('more')} />
      </div>
      {opened === 'connect' && <ConnectDialog {...dialog} />}
      {opened === 'end' && <EndDialog {...dialog} />}
      {opened === 'more' && <MoreDialog {...dialog} onEnd={() => setOpened('end')} />}
    </>
  )
}

interface UsualProps extends ConnectionProps {
  readonly isAtCommunity: boolean
}

interface ConnectionProps {
  readonly profile: Profile
  readonly name: string
  readonly onOpen: (dialog: Opened) => void
  readonly onChange: (change: RelationshipChange) => void
}

function Usual({ profile, name, isAtCommunity, onOpen, onChange }: UsualProps) {
  const t = useTexts(peopleTexts)
  const { idTag, connected, following, type } = profile
  const isPerson = type === 'person'
  return (
    <>
      <Connection profile={profile} name={name} onOpen={onOpen} onChange={onChange} />
      {isPerson && (
        <ButtonLink href={`/messages/${encodeURIComponent(idTag)}`} icon="message-circle">
          {t.message}
        </ButtonLink>
      )}
      {!isPerson && !isAtCommunity && (
        <ButtonLink href={`/communities/${encodeURIComponent(idTag)}`} icon="network">
          {t.community}
        </ButtonLink>
      )}
      {(connected !== 'connected' || following) && (
        <Button
          needsServer
          icon={following ? 'check' : 'plus'}
          aria-pressed={following === true}
          onClick={() => onChange(following ? 'unfollow' : 'follow')}
        >
          {t.follow}
        </Button>
      )}
    </>
  )
}

function Connection({ profile, name, onOpen, onChange }: ConnectionProps) {
  const t = useTexts(peopleTexts)
  const { data: requests } = useQuery(connectionRequests(ownIdTag()))
  const request = requests?.find(({ issuerTag }) => issuerTag === profile.idTag)
  if (profile.connected === 'connected') return null
  if (request) return <AnswerButtons request={request} name={name} />
  if (profile.connected === 'pending')
    return (
      <Button needsServer icon="undo-2" onClick={() => onChange('disconnect')}>
        {t.withdraw}
      </Button>
    )
  return (
    <Button needsServer kind="primary" icon="user-plus" onClick={() => onOpen('connect')}>
      {profile.type === 'community' ? t.join : t.connect}
    </Button>
  )
}
