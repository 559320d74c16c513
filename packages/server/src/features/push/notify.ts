import type { Action, ActionId, IdTag } from '@kith/protocol'
import type { HeldCredential } from '#features/accounts/index.ts'
import { type ActionChange, findForNotification, findStoredAction } from '#features/actions/index.ts'
import { actsAsTenant, findActingRole } from '#features/relations/index.ts'
import type { Settings } from '#features/settings/index.ts'
import { findActiveById, type HostedTenant, type Tenants } from '#features/tenants/index.ts'
import { type Identified, ownerOf, type Tenant, visitor } from '#infra/caller/index.ts'
import type { Database, Reader, TenantId, Writer } from '#infra/db/index.ts'
import type { Outgoing } from '#infra/http/index.ts'
import type { Jobs } from '#infra/jobs/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { messageLifeSecs, notifyJob, sendPushJob } from './push-jobs.ts'
import type { PushSubscription } from './push-subscription.ts'
import { settingOf, topicOf } from './push-topic.ts'
import { hasSubscriptions, listSubscriptions, removeSubscriptions } from './subscription-store.ts'

export interface NotifyDeps {
  readonly db: Database
  readonly clock: Clock
  readonly jobs: Pick<Jobs, 'enqueue' | 'enqueueAll'>
  readonly settings: Settings
  /** Which of these credentials have ended. */
  readonly listEnded: (held: readonly HeldCredential[]) => Promise<ReadonlySet<HeldCredential>>
  /** Whether a client of the identity has the bus of the tenant open. */
  readonly isConnected: (tenantId: TenantId, idTag: IdTag) => Promise<boolean>
  readonly tenants: Pick<Tenants, 'findById'>
}

/** A reaction: what a tenant has received may be worth a notification. */
export async function queueNotification(
  { jobs, clock }: Pick<NotifyDeps, 'jobs' | 'clock'>,
  tx: Writer,
  { tenant, action }: ActionChange,
): Promise<void> {
  if (topicOf(tenant, action) === undefined) return
  // Actions that arrive late, such as an older history, notify of nothing.
  if (nowSecs(clock) - action.issuedAt > messageLifeSecs) return
  if (await hasSubscriptions(tx)) await jobs.enqueue(tx, notifyJob, { actionId: action.actionId })
}

/** Queues a message for each browser that is to be told. Subscriptions that have ended are removed. */
export async function notify(
  deps: NotifyDeps,
  { actionId }: { readonly actionId: ActionId },
  { tenantId }: { readonly tenantId: TenantId },
): Promise<void> {
  const { db, jobs } = deps
  const tenant = await findActiveById(deps.tenants, tenantId)
  if (!tenant || !(await isWanted(deps, tenant, actionId))) return
  const all = await listSubscriptions(db.reader(tenantId))
  const live = await listLive(deps, tenant, all)
  const told = new Set<Identified>()
  for (const caller of new Set(live.map((one) => one.caller)))
    if (await findToTell(deps, { tenant, actionId, caller })) told.add(caller)
  const kept = new Set(live.map(({ subscription }) => subscription))
  const payloads = live
    .filter(({ caller }) => told.has(caller))
    .map(({ subscription: { subscriptionId } }) => ({ payload: { actionId, subscriptionId } }))
  await db.transact(tenantId, async (tx) => {
    await removeSubscriptions(
      tx,
      all.filter((one) => !kept.has(one)),
    )
    await jobs.enqueueAll(tx, sendPushJob, payloads)
  })
}

/** The action, when this subscription is still to be told of it; undefined otherwise. */
export async function findStillDue(
  deps: NotifyDeps,
  tenant: HostedTenant,
  due: { readonly actionId: ActionId; readonly subscription: PushSubscription },
): Promise<Outgoing<Action> | undefined> {
  const { actionId, subscription } = due
  const [live] = await listLive(deps, tenant, [subscription])
  if (!live || !(await isWanted(deps, tenant, actionId))) return undefined
  return await findToTell(deps, { tenant, actionId, caller: live.caller })
}

interface LiveSubscription {
  readonly subscription: PushSubscription
  /** The same object for all subscriptions of one subscriber. */
  readonly caller: Identified
}

/** Those that have not expired, whose session lives, and whose subscriber still acts for the tenant. */
async function listLive(
  { db, clock, listEnded }: NotifyDeps,
  tenant: HostedTenant,
  subscriptions: readonly PushSubscription[],
): Promise<LiveSubscription[]> {
  const now = nowSecs(clock)
  const callers = new Map<IdTag, Identified | undefined>()
  for (const subscriberTag of new Set(subscriptions.map((one) => one.subscriberTag)))
    callers.set(subscriberTag, await findCaller(db.reader(tenant.tenantId), tenant, subscriberTag))
  const held = subscriptions.map((subscription) => ({ subscription, ...credentialOf(tenant, subscription) }))
  const ended = await listEnded(held)
  return held.flatMap((one) => {
    const { subscription } = one
    const { expiresAt, subscriberTag } = subscription
    const hasExpired = expiresAt !== undefined && expiresAt <= now
    const caller = callers.get(subscriberTag)
    return caller && !hasExpired && !ended.has(one) ? [{ subscription, caller }] : []
  })
}

function credentialOf(tenant: HostedTenant, { sid, subscriberTag }: PushSubscription): HeldCredential {
  const expiresAt = Number.POSITIVE_INFINITY
  return { tenant, credential: { tokenUse: 'access', sid, callerTag: subscriberTag, expiresAt } }
}

/** Is this topic switched on, and is a reaction about an action of the tenant's own? */
async function isWanted(
  { db, settings }: Pick<NotifyDeps, 'db' | 'settings'>,
  tenant: Tenant,
  actionId: ActionId,
): Promise<boolean> {
  const reader = db.reader(tenant.tenantId)
  const action = await findStoredAction(reader, actionId)
  const topic = action && topicOf(tenant, action)
  if (!topic || !(await settings.find(tenant.tenantId, settingOf(topic)))) return false
  if (action.type !== 'REACT') return true
  const target = await findStoredAction(reader, action.subject as ActionId)
  return target?.issuerTag === tenant.idTag
}

interface Telling {
  readonly tenant: Tenant
  readonly actionId: ActionId
  readonly caller: Identified
}

/** The action as a subscriber sees it now; undefined when it is not shown, or a client shows it already. */
async function findToTell(
  { db, clock, isConnected }: NotifyDeps,
  { tenant, actionId, caller }: Telling,
): Promise<Outgoing<Action> | undefined> {
  if (await isConnected(tenant.tenantId, caller.idTag)) return undefined
  return await findForNotification({ db, clock }, { tenant, caller, actionId })
}

/** A subscriber as a caller; undefined when they do not act for the tenant any more. */
async function findCaller(reader: Reader, tenant: Tenant, idTag: IdTag): Promise<Identified | undefined> {
  if (idTag === tenant.idTag) return ownerOf(tenant)
  const role = await findActingRole(reader, idTag)
  const caller = role && visitor(idTag, role)
  return caller && actsAsTenant(caller, tenant) ? caller : undefined
}
