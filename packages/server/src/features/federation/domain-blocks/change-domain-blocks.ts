import { type Actor, auditActor } from '#features/audit/index.ts'
import { listAppointedAdmins } from '#features/tenants/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import { type Database, serverTenant } from '#infra/db/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { Failure, invalid } from '#lib/failure.ts'
import { type DomainBlock, isWithin } from './domain-block.ts'
import { countBlocks, deleteBlock, hasBlock, putBlock } from './domain-block-store.ts'
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

/** Blocks a domain with everything below it, or changes the reason of its block. Only the owner of the base tenant blocks
 * one that holds an administrator. */
export async function blockDomain(
  deps: DomainBlockDeps,
  request: DomainBlockRequest & { readonly reason?: string | undefined },
): Promise<{ readonly block: DomainBlock; readonly isNew: boolean }> {
  const { tenant, caller, domain, reason } = request
  if (isWithin(tenant.idTag, domain)) throw invalid('/domain', 'holds this server itself')
  if (isWithin(caller.idTag, domain)) throw invalid('/domain', 'holds yourself')
  const block = {
    domain,
    createdBy: caller.idTag,
    createdAt: nowSecs(deps.clock),
    ...(reason === undefined ? {} : { reason }),
  }
  const isNew = await deps.db.transact(tenant.tenantId, async (tx) => {
    const own = tx.as(serverTenant)
    if (!caller.isOwner && (await listAppointedAdmins(tx)).some((idTag) => isWithin(idTag, domain)))
      throw new Failure('E-AUTH-FORBIDDEN', { message: 'An administrator lives there.' })
    const isKnown = await hasBlock(own, domain)
    if (!isKnown && (await countBlocks(own)) >= maxBlocks)
      throw new Failure('E-STATE', { message: `There are ${maxBlocks} blocked domains already.` })
    await putBlock(own, block)
    await auditActor(deps, tx, { actor: request, event: 'domain.blocked', details: { domain } })
    tx.afterCommit(() => deps.domainBlocks.forget())
    return !isKnown
  })
  return { block, isNew }
}

/** Removes a block. What was refused in the meantime is not fetched. */
export async function unblockDomain(deps: DomainBlockDeps, request: DomainBlockRequest): Promise<void> {
  const { tenant, domain } = request
  await deps.db.transact(tenant.tenantId, async (tx) => {
    if (!(await deleteBlock(tx.as(serverTenant), domain))) throw new Failure('E-NOTFOUND')
    await auditActor(deps, tx, { actor: request, event: 'domain.unblocked', details: { domain } })
    tx.afterCommit(() => deps.domainBlocks.forget())
  })
}
