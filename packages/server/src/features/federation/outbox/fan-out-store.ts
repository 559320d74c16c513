import type { ActionId, IdTag } from '@kith/protocol'
import { forUpdate, type Reader, statement, type Writer } from '#infra/db/index.ts'
import { type Circle, laneOf, type Outgoing } from './outgoing.ts'

interface FanOutTables {
  fan_outs: {
    fan_out_id: number
    tenant_id: number
    lane: string
    action_id: ActionId
    issuer_tag: IdTag
    counts_of: ActionId | null
    named: string
    circle: Circle | null
    left_out: string
    not_before: number | null
    is_ending: number
    after_tag: string
  }
}

/** A fan-out that is not finished. */
interface FanOut {
  readonly fanOutId: number
  readonly outgoing: Outgoing
  /** The members of the circle up to this name have a delivery; empty before the first portion. */
  readonly afterTag: string
}

const selectOne = (column: 'lane' | 'action_id') =>
  statement<FanOutTables, { tenantId: number; key: string }, { fan_out_id: number }>((tables, value) =>
    tables
      .selectFrom('fan_outs')
      .select('fan_out_id')
      .where('tenant_id', '=', value('tenantId'))
      .where(column, '=', value('key'))
      .limit(1),
  )

const oneOf = { lane: selectOne('lane'), action: selectOne('action_id') }

/** Does the lane have fan-outs that are not finished? */
export async function isLaneBusy(reader: Reader, lane: string): Promise<boolean> {
  return (await reader.first(oneOf.lane, { tenantId: reader.tenantId, key: lane })) !== undefined
}

/** Does an action have recipients without a delivery? */
export async function isFanningOut(reader: Reader, actionId: ActionId): Promise<boolean> {
  return (await reader.first(oneOf.action, { tenantId: reader.tenantId, key: actionId })) !== undefined
}

export async function insertFanOut(tx: Writer, outgoing: Outgoing, afterTag: string): Promise<void> {
  const { actionId, issuerTag, named, circle, leftOut = [], countsOf, notBefore, isEnding } = outgoing
  await tx
    .tables<{ fan_outs: Omit<FanOutTables['fan_outs'], 'fan_out_id'> }>()
    .insertInto('fan_outs')
    .values({
      tenant_id: tx.tenantId,
      lane: laneOf(outgoing),
      action_id: actionId,
      issuer_tag: issuerTag,
      counts_of: countsOf ?? null,
      named: JSON.stringify(named),
      circle: circle ?? null,
      left_out: JSON.stringify(leftOut),
      not_before: notBefore ?? null,
      is_ending: Number(isEnding ?? false),
      after_tag: afterTag,
    })
    .execute()
}

const selectFirst = statement<
  FanOutTables,
  { tenantId: number; lane: string; leastEnding: number },
  FanOutTables['fan_outs']
>((tables, value, dialect) =>
  forUpdate(
    dialect,
    tables
      .selectFrom('fan_outs')
      .selectAll()
      .where('tenant_id', '=', value('tenantId'))
      .where('lane', '=', value('lane'))
      .where('is_ending', '>=', value('leastEnding'))
      .orderBy('fan_out_id')
      .limit(1),
  ),
)

/** The oldest fan-out of a lane, or of its endings. Another process that asks waits until this transaction has
 * ended. */
export async function lockFirst(
  tx: Writer,
  { lane, isEnding }: { readonly lane: string; readonly isEnding: boolean },
): Promise<FanOut | undefined> {
  const row = await tx.first(selectFirst, { tenantId: tx.tenantId, lane, leastEnding: Number(isEnding) })
  return row && fromRow(row)
}

export async function setAfterTag(tx: Writer, fanOutId: number, afterTag: string): Promise<void> {
  await tx
    .tables<FanOutTables>()
    .updateTable('fan_outs')
    .set({ after_tag: afterTag })
    .where('tenant_id', '=', tx.tenantId)
    .where('fan_out_id', '=', fanOutId)
    .execute()
}

export async function deleteFanOut(tx: Writer, fanOutId: number): Promise<void> {
  await tx
    .tables<FanOutTables>()
    .deleteFrom('fan_outs')
    .where('tenant_id', '=', tx.tenantId)
    .where('fan_out_id', '=', fanOutId)
    .execute()
}

function fromRow(row: FanOutTables['fan_outs']): FanOut {
  return {
    fanOutId: row.fan_out_id,
    afterTag: row.after_tag,
    outgoing: {
      actionId: row.action_id,
      issuerTag: row.issuer_tag,
      named: JSON.parse(row.named) as IdTag[],
      circle: row.circle ?? undefined,
      leftOut: JSON.parse(row.left_out) as IdTag[],
      notBefore: row.not_before ?? undefined,
      isEnding: row.is_ending === 1,
      countsOf: row.counts_of ?? undefined,
    },
  }
}
