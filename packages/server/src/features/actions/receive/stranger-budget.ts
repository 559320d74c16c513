import type { Relation } from '#features/relations/index.ts'
import type { Reader, Writer } from '#infra/db/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import type { ReceivedAction } from './received-action.ts'
import { findStrangerRows, spendStrangerRows } from './stranger-budget-store.ts'

/** What strangers of one registrable domain may leave at one tenant in one day (UTC). */
export const strangerLimits = { maxRows: 1_000, maxBytes: 16 * 1024 * 1024 }

const daySecs = 86_400
// Besides the action, a first request leaves a row for the relation and one for the issuer.
const rowsOfRelation = 2
const relationTypes: ReadonlySet<string> = new Set(['FLLW', 'CONN'])

/** Charges a stranger's action to its domain. Undefined when there was room, else the time until there is room
 * again. */
export async function chargeStranger(
  { clock }: { readonly clock: Clock },
  tx: Writer,
  { received, relation }: { readonly received: ReceivedAction; readonly relation: Relation | undefined },
): Promise<{ readonly retryAfterSecs: number } | undefined> {
  const { day, endsInSecs } = today(clock)
  const { token, payload, issuerDomain: domain } = received
  const isFirst = relation === undefined && relationTypes.has(payload.type)
  const spending = { domain, day, rows: isFirst ? 1 + rowsOfRelation : 1, bytes: Buffer.byteLength(token) }
  if (await spendStrangerRows(tx, { ...spending, ...strangerLimits })) return undefined
  return { retryAfterSecs: endsInSecs }
}

/** Fails with `E-RATELIMIT` when strangers of a domain have used up today's budget at the tenant of the reader. */
export async function assertStrangerRoom(
  { clock }: { readonly clock: Clock },
  reader: Reader,
  domain: string,
): Promise<void> {
  const { day, endsInSecs } = today(clock)
  const { rows, bytes } = await findStrangerRows(reader, { domain, day })
  if (rows + rowsOfRelation < strangerLimits.maxRows && bytes < strangerLimits.maxBytes) return
  throw new Failure('E-RATELIMIT', { retryAfterSecs: endsInSecs })
}

function today(clock: Clock): { readonly day: number; readonly endsInSecs: number } {
  const now = nowSecs(clock)
  const day = Math.floor(now / daySecs)
  return { day, endsInSecs: (day + 1) * daySecs - now }
}
