import { parseIdTag, roleLevel } from '@kith/protocol'
import { findEffectiveRelation, roleOf } from '#features/relations/index.ts'
import { hasRole } from '#infra/caller/index.ts'
import { Failure, invalid } from '#lib/failure.ts'
import { findRival } from '../action-store.ts'
import { acceptLaterJob } from '../job-kinds.ts'
import type { TypeHooks } from './type-hooks.ts'

/** Invitations into communities: held by the guest, who may accept, and by the community, which then takes the guest in. */
export const invt: TypeHooks = {
  type: 'INVT',
  check({ subject = '' }) {
    if (parseIdTag(subject) !== subject) throw invalid('/subject', 'must be the identity of a community')
  },
  async prepare({ tenant, body, caller }) {
    const isOwn = body.subject === tenant.idTag
    if (isOwn && caller && !(caller.isOwner || hasRole(caller, 'moderator')))
      throw new Failure('E-AUTH-FORBIDDEN')
    return {}
  },
  async admit({ tx, tenant, action }) {
    if (action.subject !== tenant.idTag) return { status: 'C' }
    const inviter = await findEffectiveRelation(tx, action.issuerTag)
    if (roleLevel(inviter ? roleOf(inviter) : 'public') < roleLevel('moderator'))
      throw new Failure('E-AUTH-FORBIDDEN')
    return { status: 'A' }
  },
  // The guest's own request may have come first.
  async onReceive({ ports, tx, tenant, action }) {
    const { subject, audienceTag: guestTag } = action
    if (subject !== tenant.idTag || guestTag === undefined) return
    const wish = { type: 'CONN', issuerTag: guestTag, audienceTag: tenant.idTag, subject: undefined } as const
    const request = await findRival(tx, wish)
    if (request?.status === 'C') await ports.jobs.enqueue(tx, acceptLaterJob, { actionId: request.actionId })
  },
  answer: ({ actionId, subject }, verdict) =>
    verdict === 'accept' ? { type: 'CONN', audienceTag: subject, subject: actionId } : undefined,
  async listOthers(_, __, { subject = '' }) {
    const community = parseIdTag(subject)
    return community ? [community] : []
  },
}
