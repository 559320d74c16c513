import { createHash } from 'node:crypto'
import type { ActionId, IdTag } from '@kith/protocol'
import { type SqlBool, sql } from 'kysely'
import { deletionOf, type Reader, statement, type Writer } from '#infra/db/index.ts'
import type { StoredAction } from '../action.ts'
import { fromRow, toRow } from '../action-row.ts'
import type { ActionRow } from '../action-tables.ts'

interface IdempotencyRow {
  tenant_id: number
  caller_tag: string
  idempotency_key: string
  body_hash: string
  action_id: string
  created_at: number
  /** The action as it was answered, without its token. */
  answer: string | null
}
interface IdempotencyTables {
  idempotency_keys: IdempotencyRow
}

/** A key by which a caller marks requests as repetitions of one request. */
export interface IdempotencyKey {
  readonly callerTag: IdTag
  readonly key: string
  /** Shows when another request reuses the key. */
  readonly bodyHash: string
}

const lifetimeSecs = 24 * 60 * 60

type Claim = Omit<IdempotencyRow, 'answer'> & { readonly expired: number }

const claimRow = statement<IdempotencyTables, Claim, unknown>((tables, value) =>
  tables
    .insertInto('idempotency_keys')
    .values({
      tenant_id: value('tenant_id'),
      caller_tag: value('caller_tag'),
      idempotency_key: value('idempotency_key'),
      body_hash: value('body_hash'),
      action_id: value('action_id'),
      created_at: value('created_at'),
      answer: null,
    })
    .onConflict((conflict) =>
      conflict
        .columns(['tenant_id', 'caller_tag', 'idempotency_key'])
        .doUpdateSet((row) => ({
          body_hash: row.ref('excluded.body_hash'),
          action_id: row.ref('excluded.action_id'),
          created_at: row.ref('excluded.created_at'),
        }))
        .where('idempotency_keys.created_at', '<=', value('expired')),
    ),
)

const selectRow = statement<
  IdempotencyTables,
  { tenantId: number; callerTag: string; key: string; expired: number },
  IdempotencyRow
>((tables, value) =>
  tables
    .selectFrom('idempotency_keys')
    .selectAll()
    .where('tenant_id', '=', value('tenantId'))
    .where('caller_tag', '=', value('callerTag'))
    .where('idempotency_key', '=', value('key'))
    .where('created_at', '>', value('expired')),
)

/** The hash of a body; the order of its members does not matter. */
export function hashBody(body: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(inOrder(body)))
    .digest('base64url')
}

function inOrder(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(inOrder)
  return Object.entries(value)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, member]) => [name, inOrder(member)])
}

/** Claims the key for an action; false when another request claimed it in the last 24 hours. */
export async function claimKey(
  tx: Writer,
  { callerTag, key, bodyHash }: IdempotencyKey,
  { actionId, now }: { readonly actionId: ActionId; readonly now: number },
): Promise<boolean> {
  const changed = await tx.change(claimRow, {
    tenant_id: tx.tenantId,
    caller_tag: callerTag,
    idempotency_key: key,
    body_hash: bodyHash,
    action_id: actionId,
    created_at: now,
    expired: now - lifetimeSecs,
  })
  return changed > 0
}

/** Stores the answer to the first request. Repetitions get it again, unless the action has ended. */
export async function putAnswer(
  tx: Writer,
  { callerTag, key }: IdempotencyKey,
  action: StoredAction,
): Promise<void> {
  const answer = JSON.stringify({ ...toRow(tx.tenantId, action), token: null })
  await tx
    .tables<IdempotencyTables>()
    .updateTable('idempotency_keys')
    .set({ answer })
    .where('tenant_id', '=', tx.tenantId)
    .where('caller_tag', '=', callerTag)
    .where('idempotency_key', '=', key)
    .execute()
}

const clearAnswers = statement<IdempotencyTables, { tenantId: number; actionId: string }, unknown>(
  (tables, value) =>
    tables
      .updateTable('idempotency_keys')
      .set({ answer: null })
      // NOTE: by the key, for SQLite, which would go through the tenant's rows else.
      .where(
        sql<SqlBool>`(tenant_id, caller_tag, idempotency_key) in (select tenant_id, caller_tag, idempotency_key
          from idempotency_keys where tenant_id = ${value('tenantId')} and action_id = ${value('actionId')})`,
      ),
)

/** Forgets what was answered about an action that has ended: repetitions get what is left of it. */
export async function forgetAnswers(tx: Writer, actionId: ActionId): Promise<void> {
  await tx.change(clearAnswers, { tenantId: tx.tenantId, actionId })
}

/** An earlier request with a key. */
interface EarlierRequest {
  readonly bodyHash: string
  readonly actionId: ActionId
  /** Undefined where no answer was stored. */
  readonly answer: StoredAction | undefined
}

/** The earlier request with this key. */
export async function findClaim(
  reader: Reader,
  { callerTag, key }: IdempotencyKey,
  now: number,
): Promise<EarlierRequest | undefined> {
  const expired = now - lifetimeSecs
  const row = await reader.first(selectRow, { tenantId: reader.tenantId, callerTag, key, expired })
  if (!row) return undefined
  const answer = row.answer === null ? undefined : fromRow(JSON.parse(row.answer) as ActionRow)
  return { answer, actionId: row.action_id as ActionId, bodyHash: row.body_hash }
}

const deleteKeys = deletionOf({
  table: 'idempotency_keys',
  key: ['tenant_id', 'caller_tag', 'idempotency_key'],
  time: 'created_at',
})

/** Removes some expired keys of all tenants; answers how many. */
export function sweepKeys(
  tx: Writer,
  { now, limit }: { readonly now: number; readonly limit: number },
): Promise<number> {
  return deleteKeys(tx, { upTo: now - lifetimeSecs, limit })
}
