import {
  blockDomain as blockContract,
  type DomainBlockView,
  listDomainBlocks,
  toIso,
  unblockDomain as unblockContract,
} from '@kith/protocol'
import { serverTenant } from '#infra/db/index.ts'
import { bind, type Endpoint, Reshaped } from '#infra/http/index.ts'
import { blockDomain, type DomainBlockDeps, unblockDomain } from './change-domain-blocks.ts'
import type { DomainBlock } from './domain-block.ts'
import { pageBlocks } from './domain-block-store.ts'

export function domainBlockEndpoints(deps: DomainBlockDeps): Endpoint[] {
  return [
    bind(listDomainBlocks, async ({ query: { limit = 20, cursor } }) => {
      const page = await pageBlocks(deps.db.reader(serverTenant), { cursor, limit })
      return { ...page, items: page.items.map(viewOf) }
    }),
    bind(blockContract, async ({ tenant, caller, body, ip }) => {
      const { block, isNew } = await blockDomain(deps, { tenant, caller, ip, ...body })
      return new Reshaped(viewOf(block), { status: isNew ? 201 : 200 })
    }),
    bind(unblockContract, async ({ tenant, caller, params, ip }) => {
      await unblockDomain(deps, { tenant, caller, ip, ...params })
      return params
    }),
  ]
}

/** A block as the API and commands show it. */
export function viewOf({ createdAt, ...block }: DomainBlock): DomainBlockView {
  return { ...block, createdAt: toIso(createdAt) }
}
