import { parseActionId } from '@kith/protocol'
import { invalid } from '#lib/failure.ts'
import { doesMention } from '../mentions.ts'
import { givenToCommunities } from './post.ts'
import { assertHeard, findSubject } from './repost.ts'
import type { TypeHooks } from './type-hooks.ts'

/** Sharing a link or a resource. */
export const shre: TypeHooks = {
  type: 'SHRE',
  ...givenToCommunities(),
  async admit(scene) {
    const shared = await findSubject(scene.tx, scene.action.subject)
    if (shared) await assertHeard(scene.tx, shared.issuerTag)
    return { isMarked: doesMention(scene.action.content, scene.tenant.idTag) }
  },
  check({ subject, content }) {
    if (subject === undefined && content?.url === undefined)
      throw invalid('/subject', 'a subject or content.url is required')
  },
  async prepare({ reader, body, getShown }) {
    if (body.subject !== undefined && parseActionId(body.subject))
      await assertHeard(reader, (await getShown(body.subject)).issuerTag)
    return {}
  },
  async findOthers(reader, _, { subject }) {
    const shared = await findSubject(reader, subject)
    return { named: shared ? [shared.issuerTag] : [] }
  },
}
