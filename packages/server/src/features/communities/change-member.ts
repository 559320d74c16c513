import type { CommunityRole, IdTag } from '@kith/protocol'
import { audit } from '#features/audit/index.ts'
import {
  changeStatus,
  findRelation,
  isSuspendedOrBanned,
  lastLeader,
  listLeaders,
  noRelation,
  type Relation,
  type RelationEmitter,
  rankOf,
  roleOf,
  setRelation,
} from '#features/relations/index.ts'
import type { Identified, Tenant } from '#infra/caller/index.ts'
import type { Database, Writer } from '#infra/db/index.ts'
import type { Jobs } from '#infra/jobs/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { assertBound, assertMayChange, changesStatus, type MemberChange, roleIn } from './member-change.ts'

export interface ChangeMemberDeps extends RelationEmitter {
  readonly db: Database
  readonly clock: Clock
  readonly jobs: Pick<Jobs, 'enqueue'>
  /** Signs the end of a connection; the function that it answers stores and sends it. */
  prepareEnd(community: Tenant, memberTag: IdTag): Promise<(tx: Writer) => Promise<void>>
  /** Ends the sessions of an identity at the tenant of `tx`. */
  revokeSessions(tx: Writer, callerTag: IdTag): Promise<void>
}

interface ChangeMember {
  readonly tenant: Tenant
  readonly caller: Identified
  readonly idTag: IdTag
  readonly change: MemberChange
  readonly ip: string
}

/** Changes the role or the status of a member of a community, and answers the new relation. */
export async function changeMember(deps: ChangeMemberDeps, request: ChangeMember): Promise<Relation> {
  const { tenant, caller, idTag, change } = request
  const reader = deps.db.reader(tenant.tenantId)
  const known = (await findRelation(reader, idTag)) ?? noRelation(idTag)
  assertMayChange({ actorTag: caller.idTag, actorRole: caller.role, target: known, change })
  const role = change.roles && roleIn(change.roles)
  const isLeaving = role === 'public' && known.connection !== 'disconnected'
  const end = isLeaving ? await deps.prepareEnd(tenant, idTag) : undefined
  return deps.db.transact(tenant.tenantId, async (tx) => {
    const target = (await findRelation(tx, idTag)) ?? noRelation(idTag)
    // Checked again in the transaction: of two leaders who remove each other, the second has lost the role by then.
    const actorRole = await currentRole(tx, caller)
    assertMayChange({ actorTag: caller.idTag, actorRole, target, change })
    if (role !== undefined) await setRole(deps, tx, { target, role, end })
    const relation = await setStatus(deps, tx, idTag, change)
    await assertLed(tx, target, relation)
    await noteChange(deps, tx, request, { before: target, after: relation })
    return relation
  })
}

async function currentRole(tx: Writer, { idTag, isOwner }: Identified): Promise<CommunityRole> {
  if (isOwner) return 'leader'
  const relation = await findRelation(tx, idTag)
  return relation ? roleOf(relation) : 'public'
}

interface RoleChange {
  readonly target: Relation
  readonly role: CommunityRole
  /** Ends the connection, if the role ends one. */
  readonly end: ((tx: Writer) => Promise<void>) | undefined
}

async function setRole(deps: ChangeMemberDeps, tx: Writer, { target, role, end }: RoleChange): Promise<void> {
  const { idTag } = target
  const at = nowSecs(deps.clock)
  if (role === 'public') {
    await end?.(tx)
    await setRelation(deps, tx, idTag, { role: undefined, isFollower: false, at })
    return
  }
  assertBound(target, role)
  await setRelation(deps, tx, idTag, { role, at })
}

async function setStatus(
  deps: ChangeMemberDeps,
  tx: Writer,
  idTag: IdTag,
  change: MemberChange,
): Promise<Relation> {
  if (!changesStatus(change)) return (await findRelation(tx, idTag)) ?? noRelation(idTag)
  const { status, banExpiresAt: until, banReason: reason } = change
  const relation = await changeStatus(deps, tx, idTag, { status, until, reason })
  if (isSuspendedOrBanned(relation)) await deps.revokeSessions(tx, idTag)
  return relation
}

/** A community that loses a leader must have another one. */
async function assertLed(tx: Writer, before: Relation, after: Relation): Promise<void> {
  if (roleOf(before) !== 'leader' || roleOf(after) === 'leader') return
  if ((await listLeaders(tx)).length === 0) throw lastLeader()
}

async function noteChange(
  deps: ChangeMemberDeps,
  tx: Writer,
  { caller, idTag, change, ip }: ChangeMember,
  { before, after }: { readonly before: Relation; readonly after: Relation },
): Promise<void> {
  const who = { actorTag: caller.idTag, ip }
  if (change.roles !== undefined)
    await audit(deps, tx, {
      event: 'member.role-changed',
      ...who,
      details: { idTag, from: rankOf(before), to: rankOf(after) },
    })
  if (changesStatus(change)) {
    const { status, banExpiresAt, banReason } = change
    await audit(deps, tx, {
      event: 'member.status-changed',
      ...who,
      details: { idTag, status, banExpiresAt, banReason },
    })
  }
}
