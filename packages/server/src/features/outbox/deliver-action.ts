import type { ActionId, IdTag } from '@kith/protocol'
import type { Static } from 'typebox'
import type { Database, Reader, TenantId } from '#infra/db/index.ts'
import { type Egress, type EgressAnswer, EgressError } from '#infra/egress/index.ts'
import { type JobContext, type Jobs, JobVerdict } from '#infra/jobs/index.ts'
import type { Metrics } from '#infra/telemetry/index.ts'
import type { Clock } from '#lib/clock.ts'
import type { deliverJob, deliverLocallyJob, findInboxJob } from './outbox-jobs.ts'
import { groupByInbox, queueByInbox, queueSearches } from './queue-deliveries.ts'

/** The signed token of an action, as its issuer stores it. */
export type FindToken = (
  reader: Reader,
  actionId: ActionId,
) => Promise<{ token: string; issuerTag: IdTag } | undefined>

export interface DeliverDeps {
  readonly db: Database
  readonly jobs: Jobs
  readonly clock: Clock
  readonly egress: Pick<Egress, 'request'>
  readonly metrics: Pick<Metrics, 'deliveryTried'>
  /** Has the whole server nothing to do with this identity, or with its domain? */
  readonly isShunned: (idTag: IdTag) => Promise<boolean>
  readonly findToken: FindToken
  readonly findInbox: (
    recipient: IdTag,
  ) => Promise<{ kind: 'found'; inboxUrl: string } | { kind: 'unknown' } | { kind: 'unreachable' }>
  /** Hands a token to tenants of this server. */
  readonly receiveLocally: (token: string, recipients: readonly IdTag[]) => Promise<void>
  /** What follows from the arrival of an action; as a delivery may run twice, so may this. */
  readonly onDelivered: (tenantId: TenantId, actionId: ActionId) => Promise<void>
}

// The receiver has looked at the token and will not change its mind (DECISIONS part 11).
const finalStatuses = new Set([400, 401, 403, 404, 410, 413])
const maxAnswerBytes = 65_536

/** Posts one token to one inbox. */
export async function deliverAction(
  deps: DeliverDeps,
  payload: Static<(typeof deliverJob)['payload']>,
  context: JobContext,
): Promise<void> {
  const actionId = payload.actionId as ActionId
  const found = await deps.findToken(deps.db.reader(context.tenantId), actionId)
  if (!found) throw new JobVerdict('the action is no longer stored', { kind: 'dead' })
  await assertSomebodyAllowed(deps, payload.recipients as IdTag[])
  const startedMs = deps.clock.now()
  try {
    const answer = await post(deps, payload.inboxUrl, found.token, context.signal)
    if (!isReceipt(answer, actionId)) throw verdictOn(answer, deps.clock.now())
  } catch (error) {
    const isFinal = error instanceof JobVerdict && error.verdict.kind === 'dead'
    deps.metrics.deliveryTried(isFinal ? 'stopped' : 'retry', deps.clock.now() - startedMs)
    throw error
  }
  deps.metrics.deliveryTried('delivered', deps.clock.now() - startedMs)
  await deps.onDelivered(context.tenantId, actionId)
}

// Who blocks a domain blocks the identities in it, wherever they are hosted; others are blocked by name.
async function assertSomebodyAllowed(deps: DeliverDeps, recipients: readonly IdTag[]): Promise<void> {
  for (const recipient of recipients) if (!(await deps.isShunned(recipient))) return
  throw new JobVerdict('the recipients are blocked', { kind: 'dead' })
}

function verdictOn(answer: EgressAnswer, nowMs: number): JobVerdict {
  if (finalStatuses.has(answer.status)) return new JobVerdict(`HTTP ${answer.status}`, { kind: 'dead' })
  const atMs = retryAfterMs(answer.headers['retry-after'], nowMs)
  return new JobVerdict(describe(answer), { kind: 'retry', ...(atMs === undefined ? {} : { atMs }) })
}

async function post(
  deps: DeliverDeps,
  url: string,
  token: string,
  signal: AbortSignal,
): Promise<EgressAnswer> {
  try {
    const headers = { 'content-type': 'application/jwt', accept: 'application/json' }
    return await deps.egress.request({
      method: 'POST',
      url,
      headers,
      body: token,
      maxBytes: maxAnswerBytes,
      signal,
    })
  } catch (error) {
    if (!(error instanceof EgressError)) throw error
    // NOTE: a refused address may be a mistake in DNS that its owner mends: it is tried again like an unreachable one.
    throw new JobVerdict(`${error.reason}: ${error.message}`, { kind: 'retry' }, error)
  }
}

/** A web page that answers 200 to everything has not received anything. */
function isReceipt(answer: EgressAnswer, actionId: string): boolean {
  if (answer.status !== 200 && answer.status !== 202) return false
  try {
    const document: unknown = JSON.parse(Buffer.from(answer.body).toString('utf8'))
    const data = (document as { data?: { actionId?: unknown } } | null)?.data
    return data?.actionId === actionId
  } catch {
    return false
  }
}

function describe(answer: EgressAnswer): string {
  return answer.status < 300 ? `HTTP ${answer.status} without a receipt` : `HTTP ${answer.status}`
}

// What a server that is overloaded says, or a clock that is wrong: below it the usual delays are the kinder ones.
const shortestPutOffMs = 10_000

/** `Retry-After` (RFC 9110 section 10.2.3) as Unix milliseconds: seconds from now, or a date. */
export function retryAfterMs(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined
  const atMs = /^\d{1,9}$/.test(header) ? nowMs + Number(header) * 1000 : Date.parse(header)
  return Number.isNaN(atMs) || atMs < nowMs + shortestPutOffMs ? undefined : atMs
}

// Each is a question to another server.
const searchesAtOnce = 8

/** Finds the inboxes of recipients and queues the deliveries; recipients at one inbox share one. */
export async function findInboxesAndQueue(
  deps: DeliverDeps,
  payload: Static<(typeof findInboxJob)['payload']>,
  { tenantId }: Pick<JobContext, 'tenantId'>,
): Promise<void> {
  const recipients = payload.recipients as IdTag[]
  const [only] = recipients
  const inboxes =
    recipients.length === 1 && only
      ? new Map([[only, await getInbox(deps, only)]])
      : await findInboxes(deps, recipients)
  const actionId = payload.actionId as ActionId
  await deps.db.transact(tenantId, async (tx) => {
    const found = await deps.findToken(tx, actionId)
    if (!found) return
    const outgoing = { actionId, issuerTag: found.issuerTag }
    await queueByInbox(deps, tx, outgoing, groupByInbox(recipients, inboxes))
    const rest = recipients.filter((recipient) => !inboxes.has(recipient))
    await queueSearches(
      deps,
      tx,
      outgoing,
      rest.map((recipient) => [recipient]),
    )
  })
}

async function getInbox(deps: DeliverDeps, recipient: IdTag): Promise<string> {
  await assertSomebodyAllowed(deps, [recipient])
  const inbox = await deps.findInbox(recipient)
  if (inbox.kind === 'unknown') throw new JobVerdict('there is no such identity', { kind: 'dead' })
  if (inbox.kind === 'unreachable') throw new JobVerdict('its server cannot be reached', { kind: 'retry' })
  return inbox.inboxUrl
}

async function findInboxes(deps: DeliverDeps, recipients: readonly IdTag[]): Promise<Map<IdTag, string>> {
  const inboxes = new Map<IdTag, string>()
  for (let from = 0; from < recipients.length; from += searchesAtOnce) {
    const some = recipients.slice(from, from + searchesAtOnce)
    const found = await Promise.all(some.map((recipient) => deps.findInbox(recipient)))
    for (const [at, recipient] of some.entries()) {
      const inbox = found[at]
      if (inbox?.kind === 'found') inboxes.set(recipient, inbox.inboxUrl)
    }
  }
  return inboxes
}

/** Hands an action to recipients on this server. */
export async function deliverLocally(
  deps: Pick<DeliverDeps, 'db' | 'findToken' | 'receiveLocally' | 'onDelivered'>,
  payload: Static<(typeof deliverLocallyJob)['payload']>,
  { tenantId }: Pick<JobContext, 'tenantId'>,
): Promise<void> {
  const actionId = payload.actionId as ActionId
  const found = await deps.findToken(deps.db.reader(tenantId), actionId)
  if (!found) throw new JobVerdict('the action is no longer stored', { kind: 'dead' })
  await deps.receiveLocally(found.token, payload.recipients as IdTag[])
  await deps.onDelivered(tenantId, actionId)
}
