import { type Reader, statement, type Writer } from '#infra/db/index.ts'

// Tokens that wait for a key of their issuer are stored in jobs. This table adds them up, so that they can be bounded
// without reading the jobs. All rows belong to the server's own tenant.

export interface WaitingToken {
  /** SHA-256 of its text. */
  readonly tokenHash: string
  /** The registrable domain of its issuer. */
  readonly domain: string
  /** The address that delivered it, in the form that rate limits use. */
  readonly sender: string
  readonly bytes: number
  /** Unix seconds. */
  readonly receivedAt: number
}

interface WaitingTables {
  waiting_tokens: {
    tenant_id: number
    token_hash: string
    domain: string
    sender: string
    bytes: number
    received_at: number
  }
}

export interface Amount {
  readonly tokens: number
  readonly bytes: number
}

interface Sums {
  count: number
  bytes: number | null
}

const sumAll = statement<WaitingTables, { tenantId: number }, Sums>((tables, value) =>
  tables
    .selectFrom('waiting_tokens')
    .select((eb) => [eb.fn.countAll<number>().as('count'), eb.fn.sum<number>('bytes').as('bytes')])
    .where('tenant_id', '=', value('tenantId')),
)
const sumOfDomain = statement<WaitingTables, { tenantId: number; domain: string }, Sums>((tables, value) =>
  tables
    .selectFrom('waiting_tokens')
    .select((eb) => [eb.fn.countAll<number>().as('count'), eb.fn.sum<number>('bytes').as('bytes')])
    .where('tenant_id', '=', value('tenantId'))
    .where('domain', '=', value('domain')),
)
const sumOfSender = statement<WaitingTables, { tenantId: number; sender: string }, Sums>((tables, value) =>
  tables
    .selectFrom('waiting_tokens')
    .select((eb) => [eb.fn.countAll<number>().as('count'), eb.fn.sum<number>('bytes').as('bytes')])
    .where('tenant_id', '=', value('tenantId'))
    .where('sender', '=', value('sender')),
)

/** The waiting tokens in all, for issuers of a domain, and from a sender: index entries of at most some thousand
 * rows. */
export async function sumWaiting(
  reader: Reader,
  { domain, sender }: Pick<WaitingToken, 'domain' | 'sender'>,
): Promise<{ all: Amount; ofDomain: Amount; ofSender: Amount }> {
  const { tenantId } = reader
  return {
    all: amount(await reader.first(sumAll, { tenantId })),
    ofDomain: amount(await reader.first(sumOfDomain, { tenantId, domain })),
    ofSender: amount(await reader.first(sumOfSender, { tenantId, sender })),
  }
}

function amount(sums: Sums | undefined): Amount {
  return { tokens: Number(sums?.count ?? 0), bytes: Number(sums?.bytes ?? 0) }
}

export async function isWaiting(reader: Reader, tokenHash: string): Promise<boolean> {
  const row = await reader
    .tables<WaitingTables>()
    .selectFrom('waiting_tokens')
    .select('token_hash')
    .where('tenant_id', '=', reader.tenantId)
    .where('token_hash', '=', tokenHash)
    .executeTakeFirst()
  return row !== undefined
}

export async function insertWaiting(tx: Writer, token: WaitingToken): Promise<void> {
  await tx
    .tables<WaitingTables>()
    .insertInto('waiting_tokens')
    .values({
      tenant_id: tx.tenantId,
      token_hash: token.tokenHash,
      domain: token.domain,
      sender: token.sender,
      bytes: token.bytes,
      received_at: token.receivedAt,
    })
    .execute()
}

export async function deleteWaiting(tx: Writer, tokenHash: string): Promise<void> {
  await tx
    .tables<WaitingTables>()
    .deleteFrom('waiting_tokens')
    .where('tenant_id', '=', tx.tenantId)
    .where('token_hash', '=', tokenHash)
    .execute()
}

/** Forgets tokens that were received before `receivedBefore`, whose jobs have ended. */
export async function deleteOverdue(tx: Writer, receivedBefore: number): Promise<void> {
  await tx
    .tables<WaitingTables>()
    .deleteFrom('waiting_tokens')
    .where('tenant_id', '=', tx.tenantId)
    .where('received_at', '<', receivedBefore)
    .execute()
}
