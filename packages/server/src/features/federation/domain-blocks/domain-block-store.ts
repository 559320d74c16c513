import type { CursorPage, IdTag } from '@kith/protocol'
import { keysetPage, type Reader, type Writer } from '#infra/db/index.ts'
import { type DomainBlock, domainsAbove } from './domain-block.ts'

interface DomainBlockRow {
  tenant_id: number
  domain: string
  reason: string | null
  created_by: IdTag
  created_at: number
}
interface DomainBlockTables {
  domain_blocks: DomainBlockRow
}

// All of these take a handle of the server's own tenant.

export async function listBlockedDomains(reader: Reader): Promise<string[]> {
  const rows = await reader
    .tables<DomainBlockTables>()
    .selectFrom('domain_blocks')
    .select('domain')
    .where('tenant_id', '=', reader.tenantId)
    .execute()
  return rows.map(({ domain }) => domain)
}

/** The nearest blocked domain within which a name lies. */
export async function findBlockedDomain(reader: Reader, name: string): Promise<string | undefined> {
  const domains = domainsAbove(name)
  const rows = await reader
    .tables<DomainBlockTables>()
    .selectFrom('domain_blocks')
    .select('domain')
    .where('tenant_id', '=', reader.tenantId)
    .where('domain', 'in', domains)
    .execute()
  return domains.find((domain) => rows.some((row) => row.domain === domain))
}

export async function countBlocks(reader: Reader): Promise<number> {
  const row = await reader
    .tables<DomainBlockTables>()
    .selectFrom('domain_blocks')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('tenant_id', '=', reader.tenantId)
    .executeTakeFirstOrThrow()
  return Number(row.count)
}

export async function findBlock(reader: Reader, domain: string): Promise<DomainBlock | undefined> {
  const row = await reader
    .tables<DomainBlockTables>()
    .selectFrom('domain_blocks')
    .selectAll()
    .where('tenant_id', '=', reader.tenantId)
    .where('domain', '=', domain)
    .executeTakeFirst()
  return row && fromRow(row)
}

/** In the order of the domains. `E-VALIDATION` for a bad cursor. */
export async function pageBlocks(
  reader: Reader,
  { cursor, limit }: { readonly cursor: string | undefined; readonly limit: number },
): Promise<CursorPage<DomainBlock>> {
  const page = await keysetPage(
    reader
      .tables<DomainBlockTables>()
      .selectFrom('domain_blocks')
      .selectAll()
      .where('tenant_id', '=', reader.tenantId),
    { sort: 'domain', column: 'domain', kind: 'text', idColumn: 'domain', idKind: 'text' },
    { direction: 'asc', cursor, limit },
  )
  return { ...page, items: page.items.map(fromRow) }
}

export async function putBlock(tx: Writer, block: DomainBlock): Promise<void> {
  const columns = {
    reason: block.reason ?? null,
    created_by: block.createdBy,
    created_at: block.createdAt,
  }
  await tx
    .tables<DomainBlockTables>()
    .insertInto('domain_blocks')
    .values({ tenant_id: tx.tenantId, domain: block.domain, ...columns })
    .onConflict((conflict) => conflict.columns(['tenant_id', 'domain']).doUpdateSet(columns))
    .execute()
}

/** False when the domain was not blocked. */
export async function deleteBlock(tx: Writer, domain: string): Promise<boolean> {
  const result = await tx
    .tables<DomainBlockTables>()
    .deleteFrom('domain_blocks')
    .where('tenant_id', '=', tx.tenantId)
    .where('domain', '=', domain)
    .executeTakeFirst()
  return Number(result.numDeletedRows) > 0
}

function fromRow(row: DomainBlockRow): DomainBlock {
  return {
    domain: row.domain,
    createdBy: row.created_by,
    createdAt: row.created_at,
    ...(row.reason === null ? {} : { reason: row.reason }),
  }
}
