import type { Action, ActionId, IdTag } from '@kith/protocol'
import { findMessage } from '#features/conversations/index.ts'
import { findActiveById } from '#features/tenants/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import type { TenantId } from '#infra/db/index.ts'
import { type Egress, EgressError, type EgressHead, retryAfterMs } from '#infra/egress/index.ts'
import type { Outgoing } from '#infra/http/index.ts'
import { JobVerdict } from '#infra/jobs/index.ts'
import type { Vault } from '#infra/keys/index.ts'
import type { Metrics } from '#infra/telemetry/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { encryptPayload } from './encrypt-payload.ts'
import { findVapidKeyPair } from './get-vapid-key.ts'
import { findStillDue, type NotifyDeps } from './notify.ts'
import { messageLifeSecs } from './push-jobs.ts'
import { pushMessage } from './push-message.ts'
import { openTarget, type PushTarget } from './push-subscription.ts'
import { topicHeader } from './push-topic.ts'
import { findSubscription, removeSubscription } from './subscription-store.ts'
import { vapidAuthorization } from './vapid-authorization.ts'

export interface SendDeps extends NotifyDeps {
  readonly vault: Vault
  readonly egress: Pick<Egress, 'requestHead'>
  readonly logger: { warn(fields: object, message: string): void }
  readonly metrics: Pick<Metrics, 'pushTried'>
  /** The address of a tenant, with which it introduces itself. */
  readonly serverUrl: (idTag: IdTag) => string
}

// A push service answers when it has accepted a message, before it delivers it.
const timeoutMs = 5_000

/** Sends a notification to one browser. What is not shown any more is not sent; a service that does not know the browser
 * any more ends the subscription. */
export async function sendPush(
  deps: SendDeps,
  { actionId, subscriptionId }: { readonly actionId: ActionId; readonly subscriptionId: number },
  { tenantId, createdAtMs, signal }: { tenantId: TenantId; createdAtMs: number; signal: AbortSignal },
): Promise<void> {
  const { db, vault, clock } = deps
  const tenant = await findActiveById(deps.tenants, tenantId)
  const subscription = await findSubscription(db.reader(tenantId), subscriptionId)
  if (!tenant || !subscription) return
  const action = await findStillDue(deps, tenant, { actionId, subscription })
  if (!action) return
  const target = openTarget(vault, tenantId, subscription.targetSealed)
  const lifeSecs = Math.max(0, messageLifeSecs - Math.floor((clock.now() - createdAtMs) / 1000))
  const headers = {
    ...(await headersOf(deps, tenant, target)),
    ttl: String(lifeSecs),
    topic: topicHeader(actionId),
    urgency: action.type === 'MSG' ? 'high' : 'normal',
  }
  const answer = await post(deps, {
    target,
    headers,
    body: encryptPayload(pushMessage(action, await placeOf(deps, tenantId, action)), target),
    signal,
  })
  const outcome = outcomeOf(answer.status)
  deps.metrics.pushTried(outcome)
  if (outcome === 'sent') return
  if (outcome === 'removed') {
    await db.transact(tenantId, (tx) => removeSubscription(tx, subscriptionId))
    return
  }
  if (outcome === 'refused')
    deps.logger.warn(
      { status: answer.status, host: new URL(target.endpoint).host },
      'a push service refuses a message',
    )
  throw verdictOn(outcome, answer, clock.now())
}

async function placeOf(
  { db, settings }: Pick<SendDeps, 'db' | 'settings'>,
  tenantId: TenantId,
  { type, actionId }: Pick<Outgoing<Action>, 'type' | 'actionId'>,
) {
  const message = type === 'MSG' ? await findMessage(db.reader(tenantId), actionId as ActionId) : undefined
  const showsText = await settings.find(tenantId, 'notify.push.show_text')
  return { conversationId: message?.conversationId, showsText }
}

type Outcome = Parameters<Metrics['pushTried']>[0]

function outcomeOf(status: number): Outcome {
  if (status >= 200 && status < 300) return 'sent'
  if (status === 404 || status === 410) return 'removed'
  return status === 429 || (status >= 500 && status < 600) ? 'retry' : 'refused'
}

async function headersOf(
  { db, vault, clock, serverUrl }: SendDeps,
  { tenantId, idTag }: Tenant,
  { endpoint }: PushTarget,
): Promise<Record<string, string>> {
  const keys = await findVapidKeyPair({ db, vault }, tenantId)
  if (!keys) throw new JobVerdict('the tenant has no key for push services', { kind: 'dead' })
  const contact = serverUrl(idTag)
  return {
    authorization: await vapidAuthorization(keys, { endpoint, contact, now: nowSecs(clock) }),
    'content-encoding': 'aes128gcm',
    'content-type': 'application/octet-stream',
  }
}

interface Post {
  readonly target: PushTarget
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  readonly signal: AbortSignal
}

async function post({ egress, metrics }: SendDeps, { target, ...sent }: Post): Promise<EgressHead> {
  try {
    // The status says all. What else a service answers must not make a message count as lost that it has.
    return await egress.requestHead({ method: 'POST', url: target.endpoint, ...sent, timeoutMs })
  } catch (error) {
    if (!(error instanceof EgressError)) throw error
    const isRefused = error.reason === 'refused'
    metrics.pushTried(isRefused ? 'refused' : 'retry')
    const verdict = { kind: isRefused ? 'dead' : 'retry' } as const
    throw new JobVerdict(`${error.reason}: ${error.message}`, verdict, error)
  }
}

function verdictOn(
  outcome: Exclude<Outcome, 'sent' | 'removed'>,
  { status, headers }: EgressHead,
  nowMs: number,
): JobVerdict {
  const message = `HTTP ${status}`
  if (outcome === 'refused') return new JobVerdict(message, { kind: 'dead' })
  const atMs = retryAfterMs(headers['retry-after'], nowMs)
  return new JobVerdict(message, { kind: 'retry', ...(atMs === undefined ? {} : { atMs }) })
}
