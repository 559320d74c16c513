import type { Profile } from '@kith/protocol'
import type { ComponentChildren } from 'preact'
import { shownIdTag, shownName } from '#lib/identity.ts'
import { Avatar } from '#ui/avatar.tsx'
import { RichText } from '#ui/rich-text.tsx'
import { ScreenTitle } from '#ui/screen-title.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { CopyIdentity } from './copy-identity.tsx'
import { Cover } from './cover.tsx'
import { peopleTexts } from './people-texts.ts'
import { useStandingWords } from './person-line.tsx'
import styles from './profile-header.module.css'

interface ProfileHeaderProps {
  readonly profile: Profile
  /** Instead of what holds with it. */
  readonly note?: string | undefined
  /** What can be done. */
  readonly children?: ComponentChildren
}

/** Who an identity is: cover, picture, name, what it says of itself. */
export function ProfileHeader({ profile, note, children }: ProfileHeaderProps) {
  const { idTag, name, x } = profile
  const t = useTexts(peopleTexts)
  const standing = useStandingWords(profile)
  const words = note ? [note] : standing
  const bio = typeof x?.bio === 'string' ? x.bio.trim() : ''
  return (
    <header class={styles.header}>
      <Cover key={profile.coverPic} idTag={idTag} hasPicture={profile.coverPic !== undefined} />
      <div class={styles.body}>
        <div class={styles.picture}>
          <Avatar
            key={profile.profilePic}
            idTag={idTag}
            name={shownName(name, idTag)}
            hasPicture={profile.profilePic !== undefined}
            size={96}
          />
        </div>
        <div>
          <ScreenTitle>
            <bdi>{shownName(name, idTag)}</bdi>
          </ScreenTitle>
          <p class={styles.tag}>
            <bdi title={idTag}>{shownIdTag(idTag)}</bdi>
            <CopyIdentity idTag={idTag} />
          </p>
          {words.length > 0 && <p class="soft">{words.join(' · ')}</p>}
        </div>
        {bio && <RichText text={bio} />}
        {profile.status === 'Suspended' && <p>{t.suspended}</p>}
        {children}
      </div>
    </header>
  )
}
