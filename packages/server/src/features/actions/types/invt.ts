import { type IdTag, parseIdTag, roleLevel } from '@kith/protocol'
import { findRole } from '#features/relations/index.ts'
import { findRoleHere } from '#features/tenants/index.ts'
import { hasRole } from '#infra/caller/index.ts'
import { Failure, invalid } from '#lib/failure.ts'
import type { IdentityDeps } from '../action-ports.ts'
import { findSuperseded } from '../action-store.ts'
import { acceptLaterJob } from '../job-kinds.ts'
import type { HookScene, TypeHooks } from './type-hooks.ts'

/** Invitations into communities. The guest receives one and may accept it; the community receives it as well, and then
 * accepts the guest's request for a connection. */
export const invt: TypeHooks = {
  type: 'INVT',
  async prepare({ ports, tenant, body, caller }) {
    const { subject } = body
    if (subject !== tenant.idTag) await assertCommunity(ports, subject, tenant.idTag)
    else if (tenant.type !== 'community') throw noCommunity()
    if (subject === tenant.idTag && caller && !(caller.isOwner || hasRole(caller, 'moderator')))
      throw new Failure('E-AUTH-FORBIDDEN')
    return {}
  },
  async admit(scene) {
    const { tx, tenant, action } = scene
    if (action.subject !== tenant.idTag) {
      await assertMayInvite(scene)
      return { status: 'C' }
    }
    if (roleLevel(await findRole(tx, action.issuerTag)) < roleLevel('moderator'))
      throw new Failure('E-AUTH-FORBIDDEN')
    return { status: 'A' }
  },
  // The guest's request may have arrived before the invitation.
  async onReceive({ ports, tx, tenant, action }) {
    const { subject, audienceTag: guestTag } = action
    if (subject !== tenant.idTag || guestTag === undefined) return
    const wish = { type: 'CONN', issuerTag: guestTag, audienceTag: tenant.idTag, subject: undefined } as const
    const request = await findSuperseded(tx, wish)
    if (request?.status === 'C') await ports.jobs.enqueue(tx, acceptLaterJob, { actionId: request.actionId })
  },
  assertMayAccept: (ports, { subject, audienceTag, issuerTag }) =>
    assertCommunity(ports, subject, audienceTag ?? issuerTag),
  answer: ({ actionId, subject }, verdict) =>
    verdict === 'accept' ? { type: 'CONN', audienceTag: subject, subject: actionId } : undefined,
  async findOthers(_, __, { subject = '' }) {
    const community = parseIdTag(subject)
    return { named: community ? [community] : [] }
  },
}

const noCommunity = () => invalid('/subject', 'is not a community')

/** Fails when the subject is known to be no community. One that cannot be reached, or whose server does not tell its
 * type, passes: the community decides about the guest in any case. */
async function assertCommunity(
  ports: IdentityDeps,
  subject: string | undefined,
  asker: IdTag,
): Promise<void> {
  const communityTag = parseIdTag(subject ?? '')
  const found = communityTag && (await ports.askIdentity(communityTag, asker))
  if (!found || found.kind === 'unknown') throw new Failure('E-PROFILE-NOTFOUND')
  if (found.kind === 'found' && found.type === 'person') throw noCommunity()
}

/** Refuses invitations that cannot succeed, so that the guest is not bothered with them: into what is no community, or
 * into a community of this server whose inviter is below contributor there. The inviter's role in a community
 * elsewhere is known only there. */
async function assertMayInvite({ ports, tx, action }: HookScene): Promise<void> {
  const communityTag = parseIdTag(action.subject ?? '')
  if (!communityTag || (await ports.findKnownType(tx, communityTag)) === 'person') throw noCommunity()
  if (communityTag === action.issuerTag) return
  const role = await findRoleHere(tx, communityTag, action.issuerTag)
  if (role !== undefined && roleLevel(role) < roleLevel('contributor')) throw new Failure('E-AUTH-FORBIDDEN')
}
