import { getMe } from '@kith/protocol'
import { queryOptions } from '@tanstack/preact-query'
import { client } from '#platform/client.ts'
import { queries } from '#platform/query.ts'
import { resumeSession } from '#platform/session.ts'

/** What others see of the account. */
export const ownProfile = queryOptions({
  queryKey: ['me'],
  queryFn: async ({ signal }) => (await client.call(getMe, {}, { signal })).data,
})

/** Has a changed name or picture seen everywhere: the session tells them too. */
export async function reloadOwnProfile(): Promise<void> {
  void resumeSession().catch(() => undefined)
  await queries.invalidateQueries({ queryKey: ownProfile.queryKey })
}
