import type { ActionId, IdTag, Visibility } from '@kith/protocol'
import { sql } from 'kysely'
import { type Reader, statement, type Writer } from '#infra/db/index.ts'
import type { ActionTables } from '../action-tables.ts'

/** The counters of an action. */
export interface ActionCounts {
  readonly reactions: number
  readonly comments: number
  readonly views: number
  readonly shares: number
}

export type Counter = keyof ActionCounts

interface CountValues {
  readonly tenantId: number
  readonly actionId: string
  readonly by: number
  /** 1 where the tenant itself issued what is counted. */
  readonly isOwn: number
  readonly tenantTag: string
}

function addStatement(counter: Counter) {
  const count = sql.ref(counter)
  return statement<ActionTables, CountValues, { issuer_tag: string; status: string }>((tables, value) =>
    tables
      .updateTable('actions')
      .set({
        [counter]: sql<number>`case when ${count} + ${value('by')} < 0 then 0 else ${count} + ${value('by')} end`,
      })
      .where('tenant_id', '=', value('tenantId'))
      .where('action_id', '=', value('actionId'))
      // Once the issuer's server has told its counts, those are shown; only what the tenant itself does is added at
      // once.
      .where(sql<boolean>`(issuer_tag = ${value('tenantTag')} or stat_at is null or ${value('isOwn')} = 1)`)
      .returning(['issuer_tag', 'status']),
  )
}

const add = {
  reactions: addStatement('reactions'),
  comments: addStatement('comments'),
  views: addStatement('views'),
  shares: addStatement('shares'),
}

/** Adds to a counter of an action that is held here. Answers the action's issuer, or undefined where nothing was
 * counted. */
export async function addToCount(
  tx: Writer,
  counter: Counter,
  values: Omit<CountValues, 'tenantId'>,
): Promise<IdTag | undefined> {
  const [row] = await tx.run(add[counter], { ...values, tenantId: tx.tenantId })
  return row && (row.issuer_tag as IdTag)
}

const selectVisibility = statement<
  ActionTables,
  { tenantId: number; actionId: string },
  { visibility: string | null }
>((tables, value) =>
  tables
    .selectFrom('actions')
    .select('visibility')
    .where('tenant_id', '=', value('tenantId'))
    .where('action_id', '=', value('actionId')),
)

/** The visibility of an action that is held here. */
export async function findVisibility(
  reader: Reader,
  actionId: ActionId,
): Promise<{ readonly visibility: Visibility } | undefined> {
  const row = await reader.first(selectVisibility, { tenantId: reader.tenantId, actionId })
  return row && { visibility: row.visibility as Visibility }
}

/** The counters of an action. */
export async function findCounts(reader: Reader, actionId: ActionId): Promise<ActionCounts | undefined> {
  return reader
    .tables<ActionTables>()
    .selectFrom('actions')
    .select(['reactions', 'comments', 'views', 'shares'])
    .where('tenant_id', '=', reader.tenantId)
    .where('action_id', '=', actionId)
    .executeTakeFirst()
}

/** Sets the given counters. `toldAt`: the `iat` of the token when the issuer's server told them. */
export async function setCounts(
  tx: Writer,
  actionId: ActionId,
  { toldAt, ...counts }: Partial<ActionCounts> & { readonly toldAt?: number },
): Promise<void> {
  const told = toldAt === undefined ? {} : { stat_at: toldAt }
  const set = { ...counts, ...told }
  if (Object.keys(set).length === 0) return
  let update = tx
    .tables<ActionTables>()
    .updateTable('actions')
    .set(set)
    .where('tenant_id', '=', tx.tenantId)
    .where('action_id', '=', actionId)
  // Tokens may arrive in another order than they were signed in.
  if (toldAt !== undefined) update = update.where(sql<boolean>`(stat_at is null or stat_at < ${toldAt})`)
  await update.execute()
}

const selectTold = statement<
  ActionTables,
  { tenantId: number; actionId: string },
  {
    action_id: string
    issuer_tag: string
    issued_at: number
    published_at: number | null
    token: string | null
  }
>((tables, value) =>
  tables
    .selectFrom('actions')
    .select(['action_id', 'issuer_tag', 'issued_at', 'published_at', 'token'])
    .where('tenant_id', '=', value('tenantId'))
    .where('subject', '=', value('actionId'))
    .where('subject', 'is not', null)
    .where('type', '=', 'STAT')
    .where('status', '=', 'T')
    .limit(1),
)

/** The last counts that were told of an action, by its issuer's server. */
export async function findToldCounts(
  reader: Reader,
  actionId: ActionId,
): Promise<
  | {
      readonly actionId: ActionId
      readonly issuerTag: IdTag
      readonly issuedAt: number
      /** When the action's receivers were told last. Counts that were signed for a history do not count. */
      readonly toldAt: number | undefined
      readonly token: string
    }
  | undefined
> {
  const row = await reader.first(selectTold, { tenantId: reader.tenantId, actionId })
  if (!row || row.token === null) return undefined
  return {
    actionId: row.action_id as ActionId,
    issuerTag: row.issuer_tag as IdTag,
    issuedAt: row.issued_at,
    toldAt: row.published_at ?? undefined,
    token: row.token,
  }
}

/** Removes the records of counts that were told before. */
export async function deleteToldCounts(tx: Writer, actionId: ActionId): Promise<void> {
  await tx
    .tables<ActionTables>()
    .deleteFrom('actions')
    .where('tenant_id', '=', tx.tenantId)
    .where('subject', '=', actionId)
    .where('type', '=', 'STAT')
    .where('status', '=', 'T')
    .execute()
}

const countNames = ['reactions', 'comments', 'views', 'shares'] as const

/** Those of these actions that have a counter above zero. */
export async function listCounted(
  reader: Reader,
  actionIds: readonly ActionId[],
): Promise<{ readonly actionId: ActionId; readonly issuerTag: IdTag; readonly counts: ActionCounts }[]> {
  const rows = await reader
    .tables<ActionTables>()
    .selectFrom('actions')
    .select(['action_id', 'issuer_tag', ...countNames])
    .where('tenant_id', '=', reader.tenantId)
    .where('action_id', 'in', actionIds)
    .where((eb) => eb.or(countNames.map((name) => eb(name, '>', 0))))
    .execute()
  return rows.map(({ action_id, issuer_tag, ...counts }) => ({
    actionId: action_id as ActionId,
    issuerTag: issuer_tag as IdTag,
    counts,
  }))
}

/** The counts last told of these actions, signed at `since` (Unix seconds) or later. */
export async function listToldCounts(
  reader: Reader,
  { actionIds, since }: { readonly actionIds: readonly ActionId[]; readonly since: number },
): Promise<{ readonly actionId: ActionId; readonly token: string }[]> {
  const rows = await reader
    .tables<ActionTables>()
    .selectFrom('actions')
    .select(['subject', 'token'])
    .where('tenant_id', '=', reader.tenantId)
    .where('subject', 'in', actionIds)
    .where('subject', 'is not', null)
    .where('type', '=', 'STAT')
    .where('status', '=', 'T')
    .where('issued_at', '>=', since)
    .orderBy('issued_at')
    .execute()
  return rows.flatMap(({ subject, token }) =>
    subject !== null && token !== null ? [{ actionId: subject as ActionId, token }] : [],
  )
}
