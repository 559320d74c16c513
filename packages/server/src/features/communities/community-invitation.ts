import type { IdTag, RefId } from '@kith/protocol'
import {
  assertSessionLives,
  consumeReference,
  type MakeReferenceDeps,
  makeReference,
} from '#features/accounts/index.ts'
import { audit } from '#features/audit/index.ts'
import { assertWhole, findTenantByIdTag, type Tenants } from '#features/tenants/index.ts'
import type { Identified, Tenant } from '#infra/caller/index.ts'
import type { Database, Writer } from '#infra/db/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'

export interface InviteDeps extends MakeReferenceDeps {
  readonly db: Database
  readonly tenants: Pick<Tenants, 'find'>
}

const daySecs = 86_400
// A resource id without a name behind the colon is valid for no identity.
const purpose = 'community:'

/** The resource id of an invitation for one person. */
export function invitationOf(idTag: IdTag): string {
  return purpose + idTag
}

/** Invites a person of this server to make a community: a reference of the base tenant, which only that person may use,
 * once. */
export async function inviteToFound(
  deps: InviteDeps,
  request: {
    readonly tenant: Tenant
    readonly caller: Identified
    readonly targetTag: IdTag
    readonly days: number
    readonly message: string | undefined
    readonly ip: string
  },
): Promise<{ readonly refId: RefId; readonly expiresAt: number }> {
  const { tenant, caller, targetTag, days, message, ip } = request
  if ((await deps.tenants.find(targetTag))?.type !== 'person') throw new Failure('E-PROFILE-NOTFOUND')
  const expiresAt = nowSecs(deps.clock) + days * daySecs
  return deps.db.transact(tenant.tenantId, async (tx) => {
    await assertSessionLives(deps, tx, caller)
    const target = await findTenantByIdTag(tx, targetTag)
    // It would be there for the next owner of a name that is being forgotten.
    if (target) assertWhole(target)
    const { refId } = await makeReference(deps, tx, {
      type: 'invite',
      createdBy: caller.idTag,
      resourceId: invitationOf(targetTag),
      expiresAt,
      ...(message === undefined ? {} : { description: message }),
    })
    const details = { targetIdTag: targetTag }
    await audit(deps, tx, { event: 'community.invited', actorTag: caller.idTag, ip, details })
    return { refId, expiresAt }
  })
}

/** Uses an invitation; `tx` is the base tenant's. An invitation without a resource id is valid for everybody. One for
 * another identity or another purpose is answered like an unknown one. */
export async function useInvitation(
  deps: { readonly clock: Clock },
  tx: Writer,
  { refId, founderTag }: { readonly refId: RefId; readonly founderTag: IdTag },
): Promise<void> {
  const { resourceId } = await consumeReference(deps, tx, { refId, types: ['invite'] })
  if (resourceId !== undefined && resourceId !== invitationOf(founderTag)) throw new Failure('E-NOTFOUND')
}
