import { type CommunityRole, type Profile, parseIdTag } from '@kith/protocol'
import { useQuery } from '@tanstack/preact-query'
import { useSearchParams } from 'wouter-preact'
import { isReceived, ProfileActions, ProfileHeader, profileOf } from '#features/people/screens.ts'
import { shownIdTag } from '#lib/identity.ts'
import { ownIdTag } from '#platform/own-identity.ts'
import { Absent } from '#ui/absent.tsx'
import { ButtonLink } from '#ui/button-link.tsx'
import { LinkTabs } from '#ui/link-tabs.tsx'
import { QueryState, ScreenState } from '#ui/query-state.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { isAtLeast, roleIn } from './communities-query.ts'
import { communitiesTexts } from './communities-texts.ts'
import { CommunityFiles } from './community-files.tsx'
import { CommunityPosts } from './community-posts.tsx'
import { CommunitySettings } from './community-settings.tsx'
import { Invite } from './invite.tsx'
import { JoinByLink } from './join-by-link.tsx'
import { JoinRequests } from './join-requests.tsx'
import { manageTexts } from './manage-texts.ts'
import { Members } from './members.tsx'
import { ModerationLog } from './moderation-log.tsx'

// Each with the role from which on it is shown.
const parts = {
  posts: 'public',
  files: 'contributor',
  members: 'follower',
  requests: 'moderator',
  invite: 'moderator',
  log: 'moderator',
  settings: 'follower',
} as const satisfies Readonly<Record<string, CommunityRole>>
const partNames = Object.keys(parts) as (keyof typeof parts)[]

/** A community: what it is, what is written to it, who belongs to it. */
export function CommunityScreen({ params }: { readonly params: Readonly<Record<string, string>> }) {
  const t = useTexts(communitiesTexts)
  const idTag = parseIdTag(params.idTag ?? '') ?? ''
  const profile = useQuery({ ...profileOf(idTag), enabled: idTag !== '' })
  if (profile.data?.type === 'community') return <Known key={idTag} profile={profile.data} />
  if (idTag === '' || profile.data) return <Absent />
  return <ScreenState title={shownIdTag(idTag)} query={profile} heights={[320, 160]} what={t.unreachable} />
}

function Known({ profile }: { readonly profile: Profile }) {
  const t = useTexts(communitiesTexts)
  const manage = useTexts(manageTexts)
  const { idTag } = profile
  const [parameters] = useSearchParams()
  const asked = useQuery(roleIn(idTag, ownIdTag()))
  const role = asked.data
  const offered = partNames.filter(
    (name) =>
      name === 'posts' ||
      (isAtLeast(role, parts[name]) && (name !== 'settings' || profile.connected === 'connected')),
  )
  const folder = parameters.get('in') ?? undefined
  const wanted = parameters.get('show') ?? 'posts'
  // What is offered is known with the role.
  const isOpen = wanted === 'posts' || !asked.isPending
  const shown = offered.find((name) => name === wanted) ?? 'posts'
  const path = `/communities/${encodeURIComponent(idTag)}`
  const hrefOf = (name: string) => (name === 'posts' ? path : `${path}?show=${name}`)
  return (
    <div class="stack">
      <ProfileHeader profile={profile} note={role && role !== 'public' ? t[`is:${role}`] : undefined}>
        <ProfileActions profile={profile} isAtCommunity>
          {isAtLeast(role, 'contributor') && (
            <ButtonLink href={`/new?to=${encodeURIComponent(idTag)}`} icon="square-pen" kind="primary">
              {t.write}
            </ButtonLink>
          )}
        </ProfileActions>
      </ProfileHeader>
      <JoinByLink profile={profile} />
      <LinkTabs
        label={t.parts}
        current={hrefOf(shown === 'log' ? 'settings' : shown)}
        tabs={offered
          .filter((name) => name !== 'log')
          .map((name) => ({ href: hrefOf(name), text: { ...t, ...manage }[name] }))}
      />
      {!isOpen && <QueryState query={asked} heights={[160, 160]} />}
      {isOpen && shown === 'posts' && (
        <CommunityPosts idTag={idTag} isReceived={isReceived(profile)} role={role} />
      )}
      {shown === 'members' && <Members idTag={idTag} role={role} />}
      {shown === 'requests' && <JoinRequests idTag={idTag} />}
      {shown === 'invite' && <Invite idTag={idTag} />}
      {shown === 'files' && <CommunityFiles key={folder} idTag={idTag} folderId={folder} role={role} />}
      {shown === 'log' && <ModerationLog idTag={idTag} />}
      {shown === 'settings' && <CommunitySettings profile={profile} />}
    </div>
  )
}
