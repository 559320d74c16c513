import { sql } from 'kysely'
import { type Database, type Reader, serverTenant, type Writer } from '#infra/db/index.ts'
import type { CertificateState } from './certificate.ts'
import { dueRows, fromRow, rows, stateColumns, update } from './certificate-rows-store.ts'

// All of these take a handle of the server's own tenant: names are the server's.

export async function findState(reader: Reader, name: string): Promise<CertificateState | undefined> {
  const row = await rows(reader).select(stateColumns).where('name', '=', name).executeTakeFirst()
  return row && fromRow(row)
}

/** In the order of their names; `after` is the last of the page before. */
export async function pageStates(
  reader: Reader,
  { after = '', limit }: { readonly after?: string | undefined; readonly limit: number },
): Promise<CertificateState[]> {
  const found = await rows(reader)
    .select(stateColumns)
    .where('name', '>', after)
    .orderBy('name')
    .limit(limit)
    .execute()
  return found.map(fromRow)
}

const pageSize = 500

/** All of them, page by page. */
export async function* eachPage(db: Pick<Database, 'reader'>): AsyncGenerator<CertificateState[]> {
  let after: string | undefined
  while (true) {
    const page = await pageStates(db.reader(serverTenant), { after, limit: pageSize })
    yield page
    after = page.at(-1)?.name
    if (page.length < pageSize) return
  }
}

/** When the certificates of these names end, at most a thousand of them. */
export async function listEnds(
  reader: Reader,
  names: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  if (names.length === 0) return new Map()
  const found = await rows(reader).select(['name', 'not_after']).where('name', 'in', names).execute()
  return new Map(found.flatMap(({ name, not_after }) => (not_after === null ? [] : [[name, not_after]])))
}

/** What is served for a name, its key sealed. */
export async function findStored(
  reader: Reader,
  name: string,
): Promise<{ chain: string; sealedKey: Uint8Array; version: number } | undefined> {
  const row = await rows(reader)
    .select(['chain', 'sealed_key', 'version'])
    .where('name', '=', name)
    .executeTakeFirst()
  if (!row || row.chain === null || row.sealed_key === null) return undefined
  return { chain: row.chain, sealedKey: row.sealed_key, version: row.version }
}

/** Names whose certificate is to be ordered now: renewals before names that never had one, which may take weeks where they are
 * many; else those that have waited longest first. A name that failed has waited since it may be tried again: names that fail
 * for ever do not keep others from their turn. */
export async function listDue(reader: Reader, now: number, limit: number): Promise<string[]> {
  const found = await dueRows(reader, now)
    .select('name')
    .orderBy(sql`case when failures = 0 and chain is not null then 0 else 1 end`)
    .orderBy(sql`case when failures = 0 then renew_at else next_attempt_at end`)
    .orderBy('name')
    .limit(limit)
    .execute()
  return found.map(({ name }) => name)
}

/** Names whose time of renewal is to be asked for. */
export async function listToAsk(
  reader: Reader,
  now: number,
  limit: number,
): Promise<{ name: string; chain: string }[]> {
  const found = await rows(reader)
    .select(['name', 'chain'])
    .where('unwanted_since', 'is', null)
    .where('ask_at', '<=', now)
    .where('renew_at', '>', now)
    .orderBy('ask_at')
    .limit(limit)
    .execute()
  return found.map(({ name, chain }) => ({ name, chain: chain ?? '' }))
}

/** Writes when a name is renewed, and when the authority is asked for that again. */
export async function setRenewal(
  tx: Writer,
  name: string,
  { renewAt, askAt }: { readonly renewAt?: number; readonly askAt: number },
): Promise<void> {
  const change = { ask_at: askAt, ...(renewAt === undefined ? {} : { renew_at: renewAt }) }
  await update(tx, change).where('name', '=', name).execute()
}

/** Has a name renewed now, or when it may be tried again. */
export async function setDue(tx: Writer, name: string, now: number): Promise<void> {
  await update(tx, { renew_at: now }).where('name', '=', name).execute()
}

/** Writes of which stage of these names, some hundred of them at most, the administrator is told. */
export async function setWarned(tx: Writer, names: readonly string[], stage: number): Promise<void> {
  await update(tx, { warned_stage: stage }).where('name', 'in', names).execute()
}

export interface CertificateSummary {
  readonly names: number
  readonly missing: number
  readonly failing: number
  /** When the first of them ends. */
  readonly firstEnd: number | undefined
}

/** Of the names that are answered for. */
export async function summarize(reader: Reader): Promise<CertificateSummary> {
  const row = await rows(reader)
    .select(({ fn }) => [
      fn.countAll<number>().as('names'),
      fn.count<number>('chain').as('issued'),
      fn.count<number>('failing_since').as('failing'),
      fn.min('not_after').as('first_end'),
    ])
    .where('unwanted_since', 'is', null)
    .executeTakeFirstOrThrow()
  const names = Number(row.names)
  return {
    names,
    missing: names - Number(row.issued),
    failing: Number(row.failing),
    firstEnd: row.first_end === null ? undefined : Number(row.first_end),
  }
}
