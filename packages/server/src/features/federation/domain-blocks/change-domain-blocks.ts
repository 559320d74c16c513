import { type Actor, auditActor } from '#features/audit/index.ts'
import { listAppointedAdmins } from '#features/tenants/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import { type Database, serverTenant, type Writer } from '#infra/db/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { Failure, invalid } from '#lib/failure.ts'
import { type DomainBlock, isWithin } from './domain-block.ts'
import { countBlocks, deleteBlock, findBlock, putBlock } from './domain-block-store.ts'
import type { DomainBlocks } from './open-domain-blocks.ts'

export interface DomainBlockDeps {
  readonly db: Database
  readonly clock: Clock
  readonly domainBlocks: Pick<DomainBlocks, 'forget'>
}

type DomainBlockRequest = Actor & {
  /** The base tenant, in whose audit trail it is written. */
  readonly tenant: Tenant
  readonly domain: string
}

// All blocks are kept in memory: about a megabyte.
const maxBlocks = 10_000

/** Blocks a domain with everything below it, or changes the reason of its block if one is given. Only the owner of the base tenant blocks
 * one that holds an administrator. */
export async function blockDomain(
  deps: DomainBlockDeps,
  request: DomainBlockRequest & { readonly reason?: string | undefined },
): Promise<{ readonly block: DomainBlock; readonly isNew: boolean }> {
  const { tenant, caller, domain, reason } = request
  if (isWithin(tenant.idTag, domain)) throw invalid('/domain', 'holds this server itself')
  if (isWithin(caller.idTag, domain)) throw invalid('/domain', 'holds yourself')
  return await deps.db.transact(tenant.tenantId, async (tx) => {
    const own = tx.as(serverTenant)
    await assertMayDecide(tx, { caller, domain })
    const known = await findBlock(own, domain)
    if (!known && (await countBlocks(own)) >= maxBlocks)
      throw new Failure('E-STATE', { message: `There are ${maxBlocks} blocked domains already.` })
    const given = { domain, ...(reason === undefined ? {} : { reason }) }
    const block = { createdBy: caller.idTag, createdAt: nowSecs(deps.clock), ...known, ...given }
    await putBlock(own, block)
    await auditActor(deps, tx, { actor: request, event: 'domain.blocked', details: given })
    tx.afterCommit(() => deps.domainBlocks.forget())
    return { block, isNew: !known }
  })
}

async function assertMayDecide(
  tx: Writer,
  { caller, domain }: Pick<DomainBlockRequest, 'caller' | 'domain'>,
): Promise<void> {
  if (!caller.isOwner && (await listAppointedAdmins(tx)).some((idTag) => isWithin(idTag, domain)))
    throw new Failure('E-AUTH-FORBIDDEN', { message: 'An administrator lives there.' })
}

/** Removes a block. What was refused in the meantime is not fetched. Only the owner of the base tenant ends one that holds
 * an administrator. */
export async function unblockDomain(deps: DomainBlockDeps, request: DomainBlockRequest): Promise<void> {
  const { tenant, caller, domain } = request
  await deps.db.transact(tenant.tenantId, async (tx) => {
    await assertMayDecide(tx, { caller, domain })
    if (!(await deleteBlock(tx.as(serverTenant), domain))) throw new Failure('E-NOTFOUND')
    await auditActor(deps, tx, { actor: request, event: 'domain.unblocked', details: { domain } })
    tx.afterCommit(() => deps.domainBlocks.forget())
  })
}
