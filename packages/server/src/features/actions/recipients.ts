import { findActionType, type IdTag } from '@kith/protocol'
import { listAudience } from '#features/relations/index.ts'
import type { Reader } from '#infra/db/index.ts'
import type { StoredAction } from './action.ts'

/** Who receives an action of the tenant's own. */
export async function listRecipients(reader: Reader, action: StoredAction): Promise<IdTag[]> {
  const named = namedRecipients(action)
  const type = findActionType(action.type)
  const isForCircle =
    type?.receivers === 'circle' || (type?.receivers === 'audience-or-circle' && named.length === 0)
  if (!isForCircle) return named
  return action.visibility === null ? [] : listAudience(reader, circleOf(action))
}

/** Who is to learn that an action is no more: whoever may have received it, whatever holds with them now. */
export async function listHolderTags(reader: Reader, action: StoredAction): Promise<IdTag[]> {
  const received = await listRecipients(reader, action)
  const isNamed = received.length > 0 && namedRecipients(action).length > 0
  return isNamed || action.visibility === null ? received : listAudience(reader, 'ever')
}

function namedRecipients({ issuerTag, audienceTag, audience }: StoredAction): IdTag[] {
  const named = new Set(audienceTag === undefined ? audience : [audienceTag, ...audience])
  named.delete(issuerTag)
  return [...named]
}

function circleOf({ visibility }: StoredAction): 'connections' | 'followers' {
  return visibility === 'C' ? 'connections' : 'followers'
}
