import type { ComponentChildren, ComponentType } from 'preact'
import { ownIdTag } from '#platform/own-identity.ts'
import { queries } from '#platform/query.ts'

/** Who asks to join the communities in which one decides that: undefined where there is none. */
export async function loadWaitingRequests(): Promise<
  ComponentType<{ readonly otherwise: ComponentChildren }> | undefined
> {
  const [{ WaitingRequests }, { joinRequests, ledCommunities }] = await Promise.all([
    import('./waiting-requests.tsx'),
    import('./communities-query.ts'),
  ])
  const led = await queries.fetchQuery(ledCommunities(ownIdTag()))
  // One server that does not answer holds up nothing of the others.
  const asked = led.map(({ idTag }) => queries.prefetchQuery({ ...joinRequests(idTag), retry: false }))
  await Promise.all(asked)
  return led.length === 0 ? undefined : WaitingRequests
}
