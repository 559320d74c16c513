import type { IdTag } from '@kith/protocol'
import type { Generated, Selectable } from 'kysely'
import type { Reader, Writer } from '#infra/db/index.ts'
import type { PushSubscription } from './push-subscription.ts'

interface SubscriptionTable {
  subscription_id: Generated<number>
  tenant_id: number
  subscriber_tag: string
  sid: string
  endpoint_hash: string
  target_sealed: Uint8Array
  expires_at: number | null
  created_at: number
}

interface PushTables {
  push_subscriptions: SubscriptionTable
}

export interface NewSubscription extends Omit<PushSubscription, 'subscriptionId'> {
  readonly endpointHash: string
  readonly createdAt: number
}

/** Adds a subscription, or replaces the one with the same endpoint, of any identity, whose number it keeps. */
export async function putSubscription(
  tx: Writer,
  subscription: NewSubscription,
): Promise<{ readonly subscriptionId: number; readonly isNew: boolean }> {
  const known = await subscriptions(tx)
    .select('subscription_id')
    .where('endpoint_hash', '=', subscription.endpointHash)
    .executeTakeFirst()
  const changed = {
    subscriber_tag: subscription.subscriberTag,
    sid: subscription.sid,
    target_sealed: subscription.targetSealed,
    expires_at: subscription.expiresAt ?? null,
    created_at: subscription.createdAt,
  }
  const row = await tx
    .tables<PushTables>()
    .insertInto('push_subscriptions')
    .values({ tenant_id: tx.tenantId, endpoint_hash: subscription.endpointHash, ...changed })
    .onConflict((conflict) => conflict.columns(['tenant_id', 'endpoint_hash']).doUpdateSet(changed))
    .returning('subscription_id')
    .executeTakeFirstOrThrow()
  return { subscriptionId: row.subscription_id, isNew: known === undefined }
}

/** Removes the oldest subscriptions of an identity beyond the newest `most`. */
export async function removeOldest(tx: Writer, subscriberTag: IdTag, most: number): Promise<void> {
  const extra = await subscriptions(tx)
    .selectAll()
    .where('subscriber_tag', '=', subscriberTag)
    .orderBy('created_at', 'desc')
    .orderBy('subscription_id', 'desc')
    // SQLite takes an offset only after a limit.
    .limit(most)
    .offset(most)
    .execute()
  await removeSubscriptions(tx, extra.map(toSubscription))
}

export async function removeSubscriptions(tx: Writer, gone: readonly PushSubscription[]): Promise<void> {
  if (gone.length === 0) return
  await tx
    .tables<PushTables>()
    .deleteFrom('push_subscriptions')
    .where('tenant_id', '=', tx.tenantId)
    .where(
      'subscription_id',
      'in',
      gone.map(({ subscriptionId }) => subscriptionId),
    )
    .execute()
}

/** False when there is none, or it is another identity's. */
export async function removeSubscription(
  tx: Writer,
  subscriptionId: number,
  subscriberTag?: IdTag,
): Promise<boolean> {
  const removal = tx
    .tables<PushTables>()
    .deleteFrom('push_subscriptions')
    .where('tenant_id', '=', tx.tenantId)
    .where('subscription_id', '=', subscriptionId)
    .returning('subscription_id')
  const own = subscriberTag === undefined ? removal : removal.where('subscriber_tag', '=', subscriberTag)
  return (await own.executeTakeFirst()) !== undefined
}

/** Those that were made in a session. */
export async function removeSubscriptionsOfSession(tx: Writer, sid: string): Promise<void> {
  await tx
    .tables<PushTables>()
    .deleteFrom('push_subscriptions')
    .where('tenant_id', '=', tx.tenantId)
    .where('sid', '=', sid)
    .execute()
}

export async function hasSubscriptions(reader: Reader): Promise<boolean> {
  return (await subscriptions(reader).select('subscription_id').limit(1).executeTakeFirst()) !== undefined
}

export async function listSubscriptions(reader: Reader): Promise<PushSubscription[]> {
  const rows = await subscriptions(reader).selectAll().orderBy('subscription_id').execute()
  return rows.map(toSubscription)
}

export async function findSubscription(
  reader: Reader,
  subscriptionId: number,
): Promise<PushSubscription | undefined> {
  const row = await subscriptions(reader)
    .selectAll()
    .where('subscription_id', '=', subscriptionId)
    .executeTakeFirst()
  return row && toSubscription(row)
}

function subscriptions(reader: Reader) {
  return reader.tables<PushTables>().selectFrom('push_subscriptions').where('tenant_id', '=', reader.tenantId)
}

function toSubscription(row: Selectable<SubscriptionTable>): PushSubscription {
  return {
    subscriptionId: row.subscription_id,
    subscriberTag: row.subscriber_tag as IdTag,
    sid: row.sid,
    targetSealed: row.target_sealed,
    expiresAt: row.expires_at ?? undefined,
  }
}
