import type { Profile } from '@kith/protocol'
import { useQuery } from '@tanstack/preact-query'
import { useState } from 'preact/hooks'
import { EndDialog, ProfileEditing, useRelationship } from '#features/people/screens.ts'
import { shownName } from '#lib/identity.ts'
import { ownIdTag } from '#platform/own-identity.ts'
import { Button } from '#ui/button.tsx'
import { ButtonLink } from '#ui/button-link.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { isAtLeast, leadersOf, roleIn } from './communities-query.ts'
import { manageTexts } from './manage-texts.ts'

/** What leaders decide about the community itself, and how a member leaves it. */
export function CommunitySettings({ profile }: { readonly profile: Profile }) {
  const t = useTexts(manageTexts)
  const { data: role } = useQuery(roleIn(profile.idTag, ownIdTag()))
  return (
    <>
      {isAtLeast(role, 'leader') && (
        <section class="card stack">
          <h2>{t.look}</h2>
          <ProfileEditing profile={profile} />
        </section>
      )}
      {isAtLeast(role, 'moderator') && (
        <section class="card stack">
          <h2>{t.log}</h2>
          <p class="soft">{t.noLogWhy}</p>
          <div>
            <ButtonLink href={`/communities/${encodeURIComponent(profile.idTag)}?show=log`} icon="shield">
              {t.toLog}
            </ButtonLink>
          </div>
        </section>
      )}
      <Leave profile={profile} isLeader={isAtLeast(role, 'leader')} />
    </>
  )
}

function Leave({ profile, isLeader }: { readonly profile: Profile; readonly isLeader: boolean }) {
  const t = useTexts(manageTexts)
  const { idTag } = profile
  const name = shownName(profile.name, idTag)
  const [isAsking, setAsking] = useState(false)
  const relationship = useRelationship(idTag, name)
  const leaders = useQuery({ ...leadersOf(idTag), enabled: isLeader })
  const isLast = isLeader && leaders.data !== undefined && leaders.data.length <= 1
  return (
    <section class="card stack">
      <h2>{t.leaving}</h2>
      <p class="soft">{isLast ? t.lastLeader : t.leavingWhy}</p>
      <div class="row">
        {isLast && (
          <ButtonLink href={`/communities/${encodeURIComponent(idTag)}?show=members`} icon="users">
            {t.toMembers}
          </ButtonLink>
        )}
        <Button
          kind="danger"
          icon="log-out"
          disabledWhy={isLast ? t.lastLeader : undefined}
          isBusy={relationship.isPending}
          onClick={() => setAsking(true)}
        >
          {t.leaving}
        </Button>
      </div>
      {isAsking && (
        <EndDialog
          profile={profile}
          name={name}
          onClose={() => setAsking(false)}
          onChange={(change) => {
            setAsking(false)
            relationship.mutate({ change })
          }}
        />
      )}
    </section>
  )
}
