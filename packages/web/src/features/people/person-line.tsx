import type { Profile } from '@kith/protocol'
import type { ComponentChildren } from 'preact'
import { shownName } from '#lib/identity.ts'
import { Avatar } from '#ui/avatar.tsx'
import { Identity } from '#ui/identity.tsx'
import { Link } from '#ui/link.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { peopleTexts } from './people-texts.ts'
import styles from './person-line.module.css'
import { isBlocked } from './relationship.ts'

type Shown = Pick<Profile, 'idTag' | 'name'> & Partial<Profile>

interface PersonLineProps {
  readonly person: Shown
  /** Where it leads; the profile when absent. */
  readonly href?: string
  /** Instead of what holds with it. */
  readonly note?: string | undefined
  /** What can be done about it here. */
  readonly children?: ComponentChildren
}

/** An identity in a list, as a link to its profile. */
export function PersonLine(props: PersonLineProps) {
  return (
    <li class={styles.line}>
      <PersonParts {...props} />
    </li>
  )
}

/** The same, of a list that makes its lines itself. */
export function PersonParts({ person, href, note, children }: PersonLineProps) {
  const { idTag, name } = person
  const words = useStandingWords(person)
  const about = note ?? words.join(' · ')
  return (
    <>
      <Link href={href ?? `/profiles/${encodeURIComponent(idTag)}`} class={styles.link}>
        <Avatar
          idTag={idTag}
          name={shownName(name, idTag)}
          hasPicture={person.profilePic !== undefined}
          size={48}
        />
        <span class={styles.text}>
          <Identity idTag={idTag} name={name} />
          {about && <span class={styles.note}>{about}</span>}
        </span>
      </Link>
      {children && <div class={styles.actions}>{children}</div>}
    </>
  )
}

/** What holds with an identity, in words. */
export function useStandingWords(person: Partial<Profile>): readonly string[] {
  const t = useTexts(peopleTexts)
  const words = [
    person.type === 'community' && t.community,
    person.status !== undefined && isBlocked(person.status) && t.isBlocked,
    person.status === 'Muted' && t.isMuted,
    person.connected === 'connected' && (person.type === 'community' ? t.isMember : t.isConnected),
    person.connected === 'pending' && t.isPending,
    person.following && person.connected !== 'connected' && t.isFollowed,
    person.follower && person.connected !== 'connected' && t.followsYou,
  ]
  return words.filter((word) => typeof word === 'string')
}
