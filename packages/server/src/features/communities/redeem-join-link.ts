import type { IdTag, RefId } from '@kith/protocol'
import { assertSessionLives, consumeReference, findReference } from '#features/accounts/index.ts'
import { findEffectiveRelation, noRelation } from '#features/relations/index.ts'
import type { Identified, Tenant } from '#infra/caller/index.ts'
import type { Database, Writer } from '#infra/db/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { assertCommunity, findServingMakers } from './join-links.ts'

interface LinkInvitation {
  readonly community: Tenant
  readonly guestTag: IdTag
  readonly at: number
  readonly expiresAt: number
}

export interface RedeemDeps {
  readonly db: Database
  readonly clock: Clock
  /** Lets the community of `tx` accept a guest's request for a connection; false when it does already. */
  inviteByLink(tx: Writer, invitation: LinkInvitation): Promise<boolean>
}

// A CONN that is sent later than that needs another link.
const invitationSecs = 30 * 86_400

/** Invites the caller into the community by the code of a link. The invitation and the use that it takes are written in one
 * transaction, so that a failure takes no use, and two callers never share the last one. */
export async function redeemJoinLink(
  { db, clock, inviteByLink }: RedeemDeps,
  { tenant, caller, code }: { readonly tenant: Tenant; readonly caller: Identified; readonly code: RefId },
): Promise<{ readonly standing: 'invited' | 'member' }> {
  assertCommunity(tenant)
  const at = nowSecs(clock)
  const { idTag: guestTag } = caller
  return db.transact(tenant.tenantId, async (tx) => {
    await assertSessionLives({ clock }, tx, caller)
    const relation = (await findEffectiveRelation(tx, guestTag)) ?? noRelation(guestTag)
    if (relation.isBlocked) throw new Failure('E-NOTFOUND')
    if (relation.connection === 'connected' || caller.isOwner) return { standing: 'member' }
    const link = await findReference(tx, code)
    if (link?.type !== 'community.join' || !link.createdBy) throw new Failure('E-NOTFOUND')
    const makers = await findServingMakers(tx, tenant, [link.createdBy])
    if (!makers.has(link.createdBy)) throw new Failure('E-NOTFOUND')
    const invitation = { community: tenant, guestTag, at, expiresAt: at + invitationSecs }
    if (await inviteByLink(tx, invitation)) await takeUse({ clock }, tx, code)
    return { standing: 'invited' }
  })
}

/** Takes one use; a link that is used up or over fails as an unknown code does (`E-NOTFOUND`). */
async function takeUse(deps: { readonly clock: Clock }, tx: Writer, refId: RefId): Promise<void> {
  try {
    await consumeReference(deps, tx, { refId, types: ['community.join'] })
  } catch (error) {
    if (error instanceof Failure && error.code === 'E-GONE') throw new Failure('E-NOTFOUND')
    throw error
  }
}
