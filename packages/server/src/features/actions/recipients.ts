import { findActionType, type IdTag } from '@kith/protocol'
import { listAudience } from '#features/relations/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import type { Reader } from '#infra/db/index.ts'
import type { StoredAction } from './action.ts'

/** Who receives an action of the tenant's own, by the data of its type: those it names, or the circle that its
 * visibility reaches. */
export async function listRecipients(reader: Reader, tenant: Tenant, action: StoredAction): Promise<IdTag[]> {
  const named = namedRecipients(tenant, action)
  const receivers = findActionType(action.type)?.receivers
  const isForCircle = receivers === 'circle' || (receivers === 'audience-or-circle' && named.length === 0)
  if (!isForCircle) return receivers === 'nobody' ? [] : named
  if (action.visibility === null) return []
  return listAudience(reader, action.visibility === 'C' ? 'connections' : 'followers')
}

/** Who may hold an action of the tenant's own, whatever holds with them now. */
export async function listPossibleHolders(
  reader: Reader,
  tenant: Tenant,
  action: StoredAction,
): Promise<IdTag[]> {
  const recipients = await listRecipients(reader, tenant, action)
  if (namedRecipients(tenant, action).length > 0 || action.visibility === null) return recipients
  return listAudience(reader, 'ever')
}

function namedRecipients(tenant: Tenant, { audienceTag, audience }: StoredAction): IdTag[] {
  const named = new Set(audienceTag === undefined ? audience : [audienceTag, ...audience])
  named.delete(tenant.idTag)
  return [...named]
}
