import { type IdTag, type JoinLink, maxJoinLinks, roleLevel } from '@kith/protocol'
import {
  assertSessionLives,
  dropReference,
  findReferenceByHash,
  labelOf,
  listReferenceRows,
  type MakeReferenceDeps,
  makeReference,
  type Reference,
  type RevokeDeps,
  referenceHash,
} from '#features/accounts/index.ts'
import { audit } from '#features/audit/index.ts'
import { listEffectiveRelations, noRelation, roleOf } from '#features/relations/index.ts'
import type { Identified, Tenant } from '#infra/caller/index.ts'
import type { Database, Reader, Writer } from '#infra/db/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { Failure, invalid } from '#lib/failure.ts'

export interface JoinLinksDeps extends MakeReferenceDeps, RevokeDeps {
  readonly db: Database
}

interface Request {
  readonly tenant: Tenant
  readonly caller: Identified
  readonly ip: string
}

interface CreateRequest extends Request {
  readonly description?: string
  readonly expiresAt?: number
  readonly count?: number | null
}

const type = 'community.join'

/** Fails unless the tenant is a community: people have owners with a role too, but nobody joins a person. */
export function assertCommunity(tenant: Tenant): void {
  if (tenant.type !== 'community') throw new Failure('E-NOTFOUND')
}

/** Those of the makers of links that may accept requests now: the links of the others do not serve. */
export async function findServingMakers(
  reader: Reader,
  tenant: Tenant,
  makers: readonly IdTag[],
): Promise<ReadonlySet<IdTag>> {
  if (makers.length === 0) return new Set()
  const relation = await listEffectiveRelations(reader, [tenant.tenantId], makers)
  const roleOfMaker = (maker: IdTag) => roleOf(relation(tenant.tenantId, maker) ?? noRelation(maker))
  const isServing = (maker: IdTag) =>
    maker === tenant.idTag || roleLevel(roleOfMaker(maker)) >= roleLevel('moderator')
  return new Set(makers.filter(isServing))
}

/** All links that serve now, also those that other moderators made. */
export async function listJoinLinks(deps: JoinLinksDeps, tenant: Tenant): Promise<JoinLink[]> {
  assertCommunity(tenant)
  const { serving } = await findLinks(deps, deps.db.reader(tenant.tenantId), tenant)
  return serving.map(viewOf)
}

export async function createJoinLink(deps: JoinLinksDeps, request: CreateRequest): Promise<JoinLink> {
  const { tenant, caller, ip, description, expiresAt, count } = request
  assertCommunity(tenant)
  const now = nowSecs(deps.clock)
  if (expiresAt !== undefined && expiresAt <= now) throw invalid('/expiresAt', 'This time has passed.')
  return deps.db.transact(tenant.tenantId, async (tx) => {
    await assertSessionLives(deps, tx, caller)
    await makeRoom(deps, tx, tenant)
    const link = await makeReference(deps, tx, {
      type,
      count,
      createdBy: caller.idTag,
      ...labelOf(description),
      ...(expiresAt === undefined ? {} : { expiresAt }),
    })
    await audit(deps, tx, { event: 'reference.created', actorTag: caller.idTag, ip, details: { type } })
    return viewOf({ ...link, createdBy: caller.idTag })
  })
}

/** Where the community has as many links as it may, those of former moderators go: nobody is shown them, so nobody could end
 * them. */
async function makeRoom(deps: JoinLinksDeps, tx: Writer, tenant: Tenant): Promise<void> {
  const { serving, lapsed } = await findLinks(deps, tx, tenant)
  if (serving.length >= maxJoinLinks)
    throw new Failure('E-STATE', { message: 'There are too many links: end some.' })
  if (serving.length + lapsed.length < maxJoinLinks) return
  for (const { refId } of lapsed) await dropReference(deps, tx, refId)
}

interface MadeLink extends Reference {
  readonly createdBy: IdTag
}

async function findLinks({ vault, clock }: JoinLinksDeps, reader: Reader, tenant: Tenant) {
  const wanted = { type, state: 'active', now: nowSecs(clock), offset: 0, limit: maxJoinLinks } as const
  const { references } = await listReferenceRows(vault, reader, wanted)
  const links = references.filter((link): link is MadeLink => link.createdBy !== undefined)
  const makers = await findServingMakers(reader, tenant, [...new Set(links.map((link) => link.createdBy))])
  return {
    serving: links.filter((link) => makers.has(link.createdBy)),
    lapsed: links.filter((link) => !makers.has(link.createdBy)),
  }
}

export async function endJoinLink(
  deps: JoinLinksDeps,
  { tenant, caller, ip, linkId }: Request & { readonly linkId: string },
): Promise<void> {
  assertCommunity(tenant)
  await deps.db.transact(tenant.tenantId, async (tx) => {
    await assertSessionLives(deps, tx, caller)
    const link = await findReferenceByHash(deps.vault, tx, linkId)
    if (link?.type !== type) throw new Failure('E-NOTFOUND')
    await dropReference(deps, tx, link.refId)
    await audit(deps, tx, { event: 'reference.deleted', actorTag: caller.idTag, ip, details: { type } })
  })
}

function viewOf({ refId, description, createdBy, createdAt, expiresAt, count }: MadeLink): JoinLink {
  return {
    linkId: referenceHash(refId),
    code: refId,
    createdBy,
    createdAt,
    count,
    ...(description === undefined ? {} : { description }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
  }
}
