import { findActionType, type IdTag } from '@kith/protocol'
import { findRelation } from '#features/relations/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import type { Reader } from '#infra/db/index.ts'
import type { StoredAction } from '../action.ts'
import { type Audience, nobody } from '../audience.ts'

/** Who receives an action of the tenant, by the data of its type: the identities that it names, or the circle that its
 * visibility admits. Identities that the tenant blocks receive only types that can end (`canEnd`). */
export async function findAudience(reader: Reader, tenant: Tenant, action: StoredAction): Promise<Audience> {
  const named = namedRecipients(tenant, action)
  const type = findActionType(action.type)
  const receivers = type?.receivers
  const isForCircle = receivers === 'circle' || (receivers === 'audience-or-circle' && named.length === 0)
  if (!isForCircle && type?.canEnd) return { named }
  if (!isForCircle) return receivers === 'nobody' ? nobody : { named: await withoutBlocked(reader, named) }
  if (action.visibility === null) return nobody
  return { named: [], circle: action.visibility === 'C' ? 'connections' : 'followers' }
}

/** Who may hold an action of the tenant, whatever the relation is now. */
export async function findPossibleHolders(
  reader: Reader,
  tenant: Tenant,
  action: StoredAction,
): Promise<Audience> {
  const named = namedRecipients(tenant, action)
  const receivers = findActionType(action.type)?.receivers
  if (named.length > 0 && (receivers === 'audience' || receivers === 'audience-or-circle')) return { named }
  if (named.length > 0 || action.visibility === null) return findAudience(reader, tenant, action)
  return { named: [], circle: 'ever' }
}

async function withoutBlocked(reader: Reader, idTags: readonly IdTag[]): Promise<IdTag[]> {
  const relations = await Promise.all(idTags.map((idTag) => findRelation(reader, idTag)))
  return idTags.filter((_, at) => relations[at]?.isBlocked !== true)
}

function namedRecipients(tenant: Tenant, { audienceTag, audience }: StoredAction): IdTag[] {
  const named = new Set(audienceTag === undefined ? audience : [audienceTag, ...audience])
  named.delete(tenant.idTag)
  return [...named]
}
