import { type Profile, parseIdTag } from '@kith/protocol'
import { useQuery } from '@tanstack/preact-query'
import { useSearchParams } from 'wouter-preact'
import { shownIdTag } from '#lib/identity.ts'
import { ownIdTag } from '#platform/own-identity.ts'
import { Empty } from '#ui/empty.tsx'
import { codeOf } from '#ui/explain.ts'
import { LinkTabs } from '#ui/link-tabs.tsx'
import { QueryState } from '#ui/query-state.tsx'
import { Refresh } from '#ui/refresh.tsx'
import { ScreenTitle } from '#ui/screen-title.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { OwnHeader } from './own-header.tsx'
import { peopleKey } from './people-keys.ts'
import { profileOf } from './people-query.ts'
import { peopleTexts } from './people-texts.ts'
import { ProfileActions } from './profile-actions.tsx'
import { ProfileFiles } from './profile-files.tsx'
import { ProfileHeader } from './profile-header.tsx'
import { ProfilePhotos } from './profile-photos.tsx'
import { ProfilePosts } from './profile-posts.tsx'
import { isBlocked } from './relationship.ts'

const parts = ['posts', 'photos', 'files'] as const

/** An identity: who it is, what holds with it, and what it shows. */
export function ProfileScreen({ params }: { readonly params: Readonly<Record<string, string>> }) {
  const idTag = parseIdTag(params.idTag ?? '')
  if (!idTag) return <Unknown idTag={params.idTag ?? ''} />
  return <Known key={idTag} idTag={idTag} />
}

function Known({ idTag }: { readonly idTag: string }) {
  const t = useTexts(peopleTexts)
  const profile = useQuery(profileOf(idTag))
  const isOwn = ownIdTag() === idTag
  if (profile.error && codeOf(profile.error) === 'E-PROFILE-NOTFOUND') return <Unknown idTag={idTag} />
  if (!profile.data)
    return (
      <div class="stack">
        <ScreenTitle>{shownIdTag(idTag)}</ScreenTitle>
        {profile.isPending && !isOwn && <p class="soft">{t.asking(shownIdTag(idTag))}</p>}
        <QueryState
          query={profile}
          heights={[320, 160]}
          what={codeOf(profile.error) === 'E-UNAVAILABLE' ? t.unreachable(shownIdTag(idTag)) : undefined}
        />
      </div>
    )
  return (
    <div class="stack">
      {isOwn ? (
        <OwnHeader profile={profile.data} />
      ) : (
        <ProfileHeader profile={profile.data}>
          <ProfileActions profile={profile.data} />
        </ProfileHeader>
      )}
      <Parts profile={profile.data} isOwn={isOwn} />
    </div>
  )
}

function Parts({ profile, isOwn }: { readonly profile: Profile; readonly isOwn: boolean }) {
  const t = useTexts(peopleTexts)
  const [parameters] = useSearchParams()
  const offered = isOwn ? parts.filter((name) => name !== 'files') : parts
  const shown = offered.find((name) => name === parameters.get('show')) ?? 'posts'
  const hrefOf = (name: string) => {
    const path = `/profiles/${encodeURIComponent(profile.idTag)}`
    return name === 'posts' ? path : `${path}?show=${name}`
  }
  if (isBlocked(profile.status)) return null
  return (
    <>
      <LinkTabs
        label={t.parts}
        current={hrefOf(shown)}
        tabs={offered.map((name) => ({ href: hrefOf(name), text: t[name] }))}
      />
      {shown !== 'posts' && <Refresh of={[peopleKey]} isLive />}
      {shown === 'posts' && <ProfilePosts profile={profile} isOwn={isOwn} />}
      {shown === 'photos' && <ProfilePhotos profile={profile} />}
      {shown === 'files' && <ProfileFiles profile={profile} />}
    </>
  )
}

function Unknown({ idTag }: { readonly idTag: string }) {
  const t = useTexts(peopleTexts)
  return (
    <div class="stack">
      <ScreenTitle>{t.people}</ScreenTitle>
      <Empty icon="user-x" title={t.notFound(shownIdTag(idTag))} />
    </div>
  )
}
