import {
  blockDomain as blockContract,
  type DomainBlockView,
  decodeCursor,
  encodeCursor,
  listDomainBlocks,
  toIso,
  unblockDomain as unblockContract,
} from '@kith/protocol'
import type { Caller, Identified } from '#infra/caller/index.ts'
import { serverTenant } from '#infra/db/index.ts'
import { bind, type Endpoint } from '#infra/http/index.ts'
import { Failure, invalid } from '#lib/failure.ts'
import { blockDomain, type DomainBlockDeps, unblockDomain } from './change-domain-blocks.ts'
import type { DomainBlock } from './domain-block.ts'
import { listBlocksAfter } from './domain-block-store.ts'

const sort = 'domain'

export function domainBlockEndpoints(deps: DomainBlockDeps): Endpoint[] {
  return [
    bind(listDomainBlocks, ({ query: { limit = 20, cursor } }) => listPage(deps, limit, cursor)),
    bind(blockContract, async ({ tenant, caller, body }) =>
      viewOf(await blockDomain(deps, { tenant, caller: identified(caller), ...body })),
    ),
    bind(unblockContract, async ({ tenant, caller, params }) => {
      await unblockDomain(deps, { tenant, caller: identified(caller), ...params })
      return params
    }),
  ]
}

async function listPage({ db }: DomainBlockDeps, limit: number, cursor: string | undefined) {
  const after = cursor === undefined ? '' : decodeCursor(cursor, sort)?.v
  if (typeof after !== 'string') throw invalid('/query/cursor', 'This cursor does not belong to this list.')
  const found = await listBlocksAfter(db.reader(serverTenant), after, limit + 1)
  const last = found.length > limit ? found[limit - 1] : undefined
  return {
    items: found.slice(0, limit).map(viewOf),
    nextCursor: last ? encodeCursor({ s: sort, v: last.domain, id: last.domain }) : null,
  }
}

function viewOf({ createdAt, ...block }: DomainBlock): DomainBlockView {
  return { ...block, createdAt: toIso(createdAt) }
}

function identified(caller: Caller): Identified {
  if (caller.kind !== 'identity') throw new Failure('E-AUTH-FORBIDDEN')
  return caller
}
