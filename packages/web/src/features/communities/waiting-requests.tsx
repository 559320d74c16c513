import type { Action, Profile } from '@kith/protocol'
import { useQueries, useQuery } from '@tanstack/preact-query'
import type { ComponentChildren } from 'preact'
import { personLine } from '#features/people/screens.ts'
import { shownName } from '#lib/identity.ts'
import { ownIdTag } from '#platform/own-identity.ts'
import { useTexts } from '#ui/use-texts.ts'
import { joinRequests, ledCommunities } from './communities-query.ts'
import { communitiesTexts } from './communities-texts.ts'
import { JoinRequest } from './join-requests.tsx'

interface WaitingRequestsProps {
  /** What is shown where nobody waits. */
  readonly otherwise: ComponentChildren
}

/** Who asks to join the communities in which one decides that, to be answered in place. */
export function WaitingRequests({ otherwise }: WaitingRequestsProps) {
  const { data: led = [] } = useQuery(ledCommunities(ownIdTag()))
  const asked = useQueries({
    // Others who lead it may have answered since.
    queries: led.map(({ idTag }) => ({ ...joinRequests(idTag), refetchOnMount: 'always' as const })),
  })
  const waiting = led.flatMap((community, at) => {
    const requests = asked[at]?.data ?? []
    return requests.length > 0 ? [{ community, requests }] : []
  })
  if (waiting.length === 0) return otherwise
  return waiting.map(({ community, requests }) => (
    <OfOne key={community.idTag} community={community} requests={requests} />
  ))
}

interface OfOneProps {
  readonly community: Profile
  readonly requests: readonly Action[]
}

function OfOne({ community, requests }: OfOneProps) {
  const t = useTexts(communitiesTexts)
  const { idTag, name } = community
  const title = t.asksToJoin(shownName(name, idTag))
  return (
    <section class="stack">
      <h2>{title}</h2>
      <ul class={personLine.people} aria-label={title}>
        {requests.map((request) => (
          <JoinRequest key={request.actionId} idTag={idTag} request={request} />
        ))}
      </ul>
    </section>
  )
}
