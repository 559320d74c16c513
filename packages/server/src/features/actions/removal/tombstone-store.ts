import {
  type ActionId,
  type ActionTokenPayload,
  findActionType,
  type IdTag,
  parseActionId,
} from '@kith/protocol'
import { type Reader, statement, type Writer } from '#infra/db/index.ts'
import { endingSubType } from '../action.ts'
import { maxTokenAgeSecs } from '../receive/token-age.ts'

// All of these take a handle of the server's own tenant, because a tombstone holds for every tenant that may be given
// the action later.

/** An action that its issuer has withdrawn; with `type` `ANNC`, one that its announcer has removed. */
export interface Withdrawal {
  readonly issuerTag: IdTag
  readonly actionId: ActionId
  readonly type: string
}

export interface TombstoneTables {
  tombstones: {
    tenant_id: number
    issuer_tag: string
    action_id: string
    type: string
    domain: string
    kept_until: number
  }
}

// A day longer than the age up to which an action is accepted that arrives for the first time.
const keptSecs = maxTokenAgeSecs + 86_400
// Anybody can name issuers below a domain of their own. Beyond this number a domain's deletions of actions that nobody
// here holds are not remembered. A row takes 200 bytes.
const maxPerDomain = 10_000

const selectTombstone = statement<TombstoneTables, Withdrawal & { tenantId: number }, { type: string }>(
  (tables, value) =>
    tables
      .selectFrom('tombstones')
      .select('type')
      .where('tenant_id', '=', value('tenantId'))
      .where('issuer_tag', '=', value('issuerTag'))
      .where('action_id', '=', value('actionId'))
      .where('type', '=', value('type')),
)

/** What a signed token withdraws; undefined when it does not withdraw a single action. */
export function withdrawalOf(
  { type, subType, subject }: Pick<ActionTokenPayload, 'type' | 'subType' | 'subject'>,
  issuerTag: IdTag,
): Withdrawal | undefined {
  const actionId = parseActionId(subject ?? '')
  const isKnownType = type === 'ANNC' || findActionType(type) !== undefined
  return subType === endingSubType && actionId && isKnownType ? { issuerTag, actionId, type } : undefined
}

/** Remembers a withdrawal for 181 days; false when there are too many of the issuer's `domain`. Tenants of this server
 * are not limited: they withdraw only what they published. */
export async function putTombstone(
  tx: Writer,
  withdrawal: Withdrawal,
  { domain = '', now }: { readonly domain?: string; readonly now: number },
): Promise<boolean> {
  if (domain !== '' && (await countTombstones(tx, domain)) >= maxPerDomain) return false
  const { issuerTag, actionId, type } = withdrawal
  const columns = { domain, kept_until: now + keptSecs }
  await tx
    .tables<TombstoneTables>()
    .insertInto('tombstones')
    .values({ tenant_id: tx.tenantId, issuer_tag: issuerTag, action_id: actionId, type, ...columns })
    .onConflict((conflict) =>
      conflict.columns(['tenant_id', 'issuer_tag', 'action_id', 'type']).doUpdateSet(columns),
    )
    .execute()
  return true
}

async function countTombstones(reader: Reader, domain: string): Promise<number> {
  const row = await reader
    .tables<TombstoneTables>()
    .selectFrom((eb) =>
      eb
        .selectFrom('tombstones')
        .select('action_id')
        .where('tenant_id', '=', reader.tenantId)
        .where('domain', '=', domain)
        .limit(maxPerDomain)
        .as('some'),
    )
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirst()
  return Number(row?.count ?? 0)
}

export async function isWithdrawn(
  reader: Reader,
  { issuerTag, actionId, type }: Withdrawal,
): Promise<boolean> {
  return (
    (await reader.first(selectTombstone, { tenantId: reader.tenantId, issuerTag, actionId, type })) !==
    undefined
  )
}

/** Removes some expired tombstones; answers how many. */
export async function sweepTombstones(tx: Writer, now: number, limit: number): Promise<number> {
  const tables = tx.tables<TombstoneTables>()
  const old = await tables
    .selectFrom('tombstones')
    .select(['issuer_tag', 'action_id', 'type'])
    .where('tenant_id', '=', tx.tenantId)
    .where('kept_until', '<=', now)
    .orderBy('kept_until')
    .limit(limit)
    .execute()
  for (const { issuer_tag, action_id, type } of old)
    await tables
      .deleteFrom('tombstones')
      .where('tenant_id', '=', tx.tenantId)
      .where('issuer_tag', '=', issuer_tag)
      .where('action_id', '=', action_id)
      .where('type', '=', type)
      .execute()
  return old.length
}
