import { parseActionId } from '@kith/protocol'
import { invalid } from '#lib/failure.ts'
import { findStoredAction } from '../action-store.ts'
import { givenToCommunities } from './post.ts'
import type { TypeHooks } from './type-hooks.ts'

/** Sharing a link or a resource. */
export const shre: TypeHooks = {
  type: 'SHRE',
  ...givenToCommunities(),
  check({ subject, content }) {
    if (subject === undefined && content?.url === undefined)
      throw invalid('/subject', 'a subject or content.url is required')
  },
  async prepare({ body, getShown }) {
    if (body.subject !== undefined && parseActionId(body.subject)) await getShown(body.subject)
    return {}
  },
  async findOthers(reader, _, { subject }) {
    const actionId = parseActionId(subject ?? '')
    const shared = actionId && (await findStoredAction(reader, actionId))
    return { named: shared ? [shared.issuerTag] : [] }
  },
}
