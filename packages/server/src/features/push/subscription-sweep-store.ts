import { deletionOf, type Reader, statement, type TenantId, type Writer } from '#infra/db/index.ts'

// Word for word as in the index of `push-sweep-migrations.ts`.
export const hasEnd = 'expires_at is not null'

/** NOTE: over all tenants. */
export const deleteExpiredSubscriptions = deletionOf({
  table: 'push_subscriptions',
  key: ['subscription_id'],
  time: 'expires_at',
  where: hasEnd,
})

interface SweepTables {
  push_subscriptions: { subscription_id: number; tenant_id: number; sid: string }
}

/** A subscription, and the session in which it was made. */
export interface HeldSubscription {
  readonly subscriptionId: number
  readonly tenantId: TenantId
  readonly sid: string
}

const selectAfter = statement<
  SweepTables,
  { after: number; limit: number },
  SweepTables['push_subscriptions']
>((tables, value) =>
  tables
    .selectFrom('push_subscriptions')
    .select(['subscription_id', 'tenant_id', 'sid'])
    .where('subscription_id', '>', value('after'))
    .orderBy('subscription_id')
    .limit(value('limit')),
)

/** NOTE: over all tenants: those with higher numbers than `after`, in this order. */
export async function listHeld(
  reader: Reader,
  page: { readonly after: number; readonly limit: number },
): Promise<HeldSubscription[]> {
  const rows = await reader.run(selectAfter, page)
  return rows.map(({ subscription_id, tenant_id, sid }) => ({
    subscriptionId: subscription_id,
    tenantId: tenant_id as TenantId,
    sid,
  }))
}

/** NOTE: over all tenants. One that was renewed meanwhile in another session stays. */
export async function deleteHeld(tx: Writer, gone: readonly HeldSubscription[]): Promise<void> {
  if (gone.length === 0) return
  const ids = gone.map(({ subscriptionId }) => subscriptionId)
  const sids = gone.map(({ sid }) => sid)
  await tx
    .tables<SweepTables>()
    .deleteFrom('push_subscriptions')
    .where('subscription_id', 'in', ids)
    .where('sid', 'in', sids)
    .execute()
}
