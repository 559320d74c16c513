import type { IdTag } from '@kith/protocol'
import { Failure, invalid } from '#lib/failure.ts'
import type { StoredAction } from '../action.ts'
import { rootIdOf } from './thread.ts'
import type { TypeHooks } from './type-hooks.ts'

/** Private messages. */
export const msg: TypeHooks = {
  type: 'MSG',
  async prepare({ tenant, body, getShown }) {
    const { parentId, rootId } = body
    if (parentId === undefined) return { visibility: null }
    const parent = await getShown(parentId)
    if (parent.type !== 'MSG') throw invalid('/parentId', 'is not a message')
    const withinId = rootIdOf(parent)
    if (rootId !== undefined && rootId !== withinId) throw invalid('/rootId', 'is not the parent’s root')
    return {
      visibility: null,
      withinId,
      rootId: withinId,
      ...addressees(parent, tenant.idTag, body.audienceTag),
    }
  },
  async admit({ tenant, action }) {
    if (action.audienceTag !== tenant.idTag && !action.audience.includes(tenant.idTag))
      throw new Failure('E-AUTH-FORBIDDEN')
    const withinId = action.rootId ?? action.parentId
    return { visibility: null, isMarked: true, ...(withinId ? { withinId } : {}) }
  },
}

/** An answer is addressed to everybody who has the message that it answers. */
function addressees(parent: StoredAction, own: IdTag, given: IdTag | undefined) {
  const all = new Set([
    parent.issuerTag,
    ...(parent.audienceTag ? [parent.audienceTag] : []),
    ...parent.audience,
  ])
  all.delete(own)
  const [first, ...others] = all
  const audienceTag = given ?? first
  return audienceTag === undefined
    ? {}
    : { audienceTag, ...(others.length > 0 ? { audience: [...all] } : {}) }
}
