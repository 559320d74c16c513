import {
  type ActionId,
  type ActionTokenPayload,
  findActionType,
  parseActionId,
  parseIdTag,
} from '@kith/protocol'
import { listReceivers } from '#features/relations/index.ts'
import type { HostedTenant, Tenants } from '#features/tenants/index.ts'
import type { Reader, TenantId } from '#infra/db/index.ts'
import { endingSubType } from '../action.ts'
import { listHolders } from '../action-lookup-store.ts'

interface ConcernDeps {
  readonly tenants: Pick<Tenants, 'find' | 'findById'>
}

/** The tenants of this server that a token concerns, suspended ones included: those that it names, those that hold what
 * it is about, and for a broadcast the followers and connections of its issuer. */
export async function findConcerned(
  deps: ConcernDeps,
  reader: Reader,
  payload: ActionTokenPayload,
  announced?: ActionTokenPayload,
): Promise<HostedTenant[]> {
  // An announced comment concerns tenants that hold something of its thread, whether or not they follow the announcer.
  const isComment = announced?.type === 'CMNT'
  const [named, ids] = await Promise.all([
    Promise.all(namesIn(payload).map((idTag) => deps.tenants.find(idTag))),
    tenantIdsOf(deps, reader, isComment ? announced : payload),
  ])
  const held = await Promise.all([...ids].map((tenantId) => deps.tenants.findById(tenantId)))
  const concerned = new Map<TenantId, HostedTenant>()
  for (const tenant of [...named, ...held])
    if (tenant && tenant.idTag !== payload.issuerTag) concerned.set(tenant.tenantId, tenant)
  return [...concerned.values()]
}

function namesIn({ audienceTag, audience = [], subject }: ActionTokenPayload) {
  const texts = [audienceTag, ...audience, subject].filter((text) => text !== undefined)
  return [...new Set(texts)].flatMap((text) => {
    const idTag = parseIdTag(text)
    return idTag === text ? [idTag] : []
  })
}

async function tenantIdsOf(
  deps: ConcernDeps,
  reader: Reader,
  payload: ActionTokenPayload,
): Promise<Set<TenantId>> {
  const tenantIds = new Set<TenantId>()
  for (const actionId of actionsIn(payload))
    for (const { tenantId, issuerTag, isUnverified } of await listHolders(reader, actionId))
      if (isUnverified) {
        if (payload.subType === endingSubType) tenantIds.add(tenantId)
      } else if (isForAllHolders(payload) || (await deps.tenants.find(issuerTag))?.tenantId === tenantId)
        tenantIds.add(tenantId)
  if (isBroadcast(payload)) {
    const issuerTag = parseIdTag(payload.issuerTag)
    const reach = payload.visibility === 'C' ? 'connections' : 'followers'
    const receivers = issuerTag ? await listReceivers(reader, issuerTag, reach) : []
    for (const tenantId of receivers) tenantIds.add(tenantId)
  }
  return tenantIds
}

/** Comments, endings and counts concern everybody who holds what they are about; other types, such as reactions, only
 * its issuer. */
function isForAllHolders({ type, subType }: ActionTokenPayload): boolean {
  return subType === endingSubType || type === 'STAT' || findActionType(type)?.receivers === 'parent'
}

/** The actions that this one is about, for types whose receivers follow from that. */
function actionsIn({ type, subType, parentId, rootId, subject }: ActionTokenPayload): Set<ActionId> {
  const isOnlyForNamed = type !== 'ACK' && findActionType(type)?.receivers === 'audience'
  if (isOnlyForNamed && subType !== endingSubType) return new Set()
  const texts = [parentId, rootId, subject].filter((text) => text !== undefined)
  return new Set(texts.map(parseActionId).filter((actionId) => actionId !== undefined))
}

/** Without a visibility it is for nobody but whom it names; a deletion may leave out the one of what it deletes. */
function isBroadcast({ type, subType, visibility, audienceTag, audience = [] }: ActionTokenPayload): boolean {
  if (type === 'ANNC') return true
  if (visibility === undefined && subType !== endingSubType) return false
  const receivers = findActionType(type)?.receivers
  if (receivers === 'circle') return true
  return receivers === 'audience-or-circle' && audienceTag === undefined && audience.length === 0
}
