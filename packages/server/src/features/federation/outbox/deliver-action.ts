import type { ActionId, IdTag } from '@kith/protocol'
import type { Static } from 'typebox'
import type { Database, Reader, TenantId } from '#infra/db/index.ts'
import type { Egress } from '#infra/egress/index.ts'
import { type JobContext, type Jobs, JobVerdict } from '#infra/jobs/index.ts'
import type { Metrics } from '#infra/telemetry/index.ts'
import type { Clock } from '#lib/clock.ts'
import { confirmJob, type deliverJob, type deliverLocallyJob, type findInboxJob } from './outbox-jobs.ts'
import { GoneError, postToken, type Receipt, type TokenPost, withdrawn } from './post-token.ts'
import { groupByInbox, queueByInbox, queueSearches } from './queue-deliveries.ts'

/** The signed token of an action; undefined when it is no longer to be sent. */
export type FindToken = (reader: Reader, actionId: ActionId) => Promise<FoundToken | undefined>

interface FoundToken {
  readonly token: string
  /** The token that it announces, sent beside it. */
  readonly beside?: string
  readonly besideIssuer?: IdTag
  readonly issuerTag: IdTag
  readonly isEnding: boolean
}

type Tokens = Pick<FoundToken, 'token' | 'beside'>

/** What has arrived: an action at some of its recipients. */
export interface Delivered {
  readonly actionId: ActionId
  /** Absent where they are tenants of this server. */
  readonly inboxUrl?: string
  readonly recipients: readonly IdTag[]
}

export interface DeliverDeps {
  readonly db: Database
  readonly jobs: Jobs
  readonly clock: Clock
  readonly egress: Pick<Egress, 'request'>
  readonly metrics: Pick<Metrics, 'deliveryTried'>
  /** Is this identity or its domain blocked for the whole server? */
  readonly isBlockedHere: (idTag: IdTag) => Promise<boolean>
  readonly findToken: FindToken
  /** Is the tenant suspended, so that it publishes nothing now? */
  readonly isSuspended: (tenantId: TenantId) => Promise<boolean>
  readonly findInbox: (
    recipient: IdTag,
    tenantId: TenantId,
  ) => Promise<
    { kind: 'found'; inboxUrl: string } | { kind: 'unknown'; isGone?: true } | { kind: 'unreachable' }
  >
  /** The inbox of a recipient, looked up again at most once an hour. Undefined when it cannot be found now. */
  readonly findInboxAnew: (recipient: IdTag, tenantId: TenantId) => Promise<string | undefined>
  /** Hands a token to tenants of this server. */
  readonly receiveLocally: (
    delivery: Tokens,
    recipients: readonly IdTag[],
    senderId: TenantId,
  ) => Promise<void>
  /** Runs after an action has arrived. Like a delivery, it may run twice. */
  readonly onDelivered: (tenantId: TenantId, delivered: Delivered) => Promise<void>
}

type PostDeps = Pick<DeliverDeps, 'clock' | 'egress' | 'metrics'>

/** Posts one token to one inbox. */
export async function deliverAction(
  deps: DeliverDeps,
  payload: Static<(typeof deliverJob)['payload']>,
  { tenantId, signal, createdAtMs }: Pick<JobContext, 'tenantId' | 'signal' | 'createdAtMs'>,
): Promise<void> {
  const actionId = payload.actionId
  const tokens = await getTokens(deps, tenantId, actionId)
  await assertNotAllBlocked(deps, payload.recipients)
  const startedMs = deps.clock.now()
  if (startedMs - createdAtMs >= movedAfterMs) await followMoved(deps, tenantId, payload)
  const isStillWanted = async () => (await findToken(deps, tenantId, actionId)) !== undefined
  const letter = { ...payload, actionId, ...tokens, signal, isStillWanted }
  const receipt = await tryToPost(deps, letter, startedMs).catch(async (error: unknown) => {
    // A server that a recipient has left answers permanently that it does not know the recipient.
    if (error instanceof GoneError) await followMoved(deps, tenantId, payload)
    throw error
  })
  if (receipt.isVerified) await deps.onDelivered(tenantId, payload)
  else await confirmLater(deps, tenantId, payload)
}

function findToken(deps: Pick<DeliverDeps, 'db' | 'findToken'>, tenantId: TenantId, actionId: ActionId) {
  return deps.findToken(deps.db.reader(tenantId), actionId)
}

// Suspensions and blocks last for hours or days.
const suspendedWaitMs = 3 * 3_600_000

/** A suspended tenant sends only tokens that end something, and so does everybody of an issuer that the server has
 * blocked. */
async function getTokens(
  deps: Pick<DeliverDeps, 'db' | 'clock' | 'findToken' | 'isSuspended' | 'isBlockedHere'>,
  tenantId: TenantId,
  actionId: ActionId,
): Promise<Tokens> {
  const found = await findToken(deps, tenantId, actionId)
  if (!found) throw withdrawn()
  if (found.isEnding) return tokensOf(found)
  await assertNotSuspended(deps, tenantId)
  for (const issuerTag of [found.issuerTag, found.besideIssuer])
    if (issuerTag !== undefined && (await deps.isBlockedHere(issuerTag)))
      throw later(deps, 'its issuer is blocked on this server')
  return tokensOf(found)
}

function tokensOf({ token, beside }: FoundToken): Tokens {
  return beside === undefined ? { token } : { token, beside }
}

/** Postpones the job while its sender is suspended. */
export async function assertNotSuspended(
  deps: Pick<DeliverDeps, 'clock' | 'isSuspended'>,
  tenantId: TenantId,
): Promise<void> {
  if (!(await deps.isSuspended(tenantId))) return
  throw later(deps, 'its sender is suspended')
}

function later({ clock }: Pick<DeliverDeps, 'clock'>, reason: string): JobVerdict {
  return new JobVerdict(reason, { kind: 'retry', atMs: clock.now() + suspendedWaitMs, group: 'nothing' })
}

// Shorter than the day for which an inbox is cached, and longer than a restart of its server.
const movedAfterMs = 3_600_000
// The others are looked up by their own deliveries.
const maxAskedAnew = 48

/** Queues deliveries to the inboxes to which the recipients have moved, and to the old one if some remain; then this
 * job ends. Receiving the same token twice does no harm. */
async function followMoved(
  deps: DeliverDeps,
  tenantId: TenantId,
  { actionId, inboxUrl, recipients }: Static<(typeof deliverJob)['payload']>,
): Promise<void> {
  const asked = recipients.slice(0, maxAskedAnew)
  const inboxes = await askAll(asked, (recipient) => deps.findInboxAnew(recipient, tenantId))
  if ([...inboxes.values()].every((found) => found === inboxUrl)) return
  for (const recipient of recipients) if (!inboxes.has(recipient)) inboxes.set(recipient, inboxUrl)
  await deps.db.transact(tenantId, async (tx) => {
    const found = await deps.findToken(tx, actionId)
    if (!found) return
    const outgoing = { actionId, issuerTag: found.issuerTag, haveMoved: true }
    await queueByInbox(deps, tx, outgoing, groupByInbox(recipients, inboxes))
  })
  throw new JobVerdict('its recipients have moved to another server', { kind: 'dead', isExpected: true })
}

async function askAll(
  recipients: readonly IdTag[],
  ask: (recipient: IdTag) => Promise<string | undefined>,
): Promise<Map<IdTag, string>> {
  const inboxes = new Map<IdTag, string>()
  for (let from = 0; from < recipients.length; from += searchesAtOnce) {
    const some = recipients.slice(from, from + searchesAtOnce)
    const found = await Promise.all(some.map(ask))
    for (const [at, recipient] of some.entries()) {
      const inbox = found[at]
      if (inbox !== undefined) inboxes.set(recipient, inbox)
    }
  }
  return inboxes
}

export async function tryToPost(deps: PostDeps, letter: TokenPost, startedMs: number): Promise<Receipt> {
  const told = (outcome: 'delivered' | 'retry' | 'stopped') =>
    deps.metrics.deliveryTried(outcome, deps.clock.now() - startedMs)
  try {
    const receipt = await postToken(deps, letter)
    told('delivered')
    return receipt
  } catch (error) {
    told(error instanceof JobVerdict && error.verdict.kind === 'dead' ? 'stopped' : 'retry')
    throw error
  }
}

/** A receiver that could not verify a token has not acted on it and may lose it, so it is asked again. */
async function confirmLater(
  { db, jobs, clock }: Pick<DeliverDeps, 'db' | 'jobs' | 'clock'>,
  tenantId: TenantId,
  payload: Static<(typeof deliverJob)['payload']>,
): Promise<void> {
  const { actionId, inboxUrl } = payload
  const runAtMs = clock.now() + confirmJob.retry.firstDelayMs
  const options = { groupKey: new URL(inboxUrl).host, dedupKey: `${actionId} ${inboxUrl}`, runAtMs }
  await db.transact(tenantId, (tx) => jobs.enqueue(tx, confirmJob, payload, options))
}

/** Posts a token again to a receiver that could not verify it, until it is verified or no longer to be sent. */
export async function confirmDelivery(
  deps: DeliverDeps,
  payload: Static<(typeof confirmJob)['payload']>,
  { tenantId, signal }: Pick<JobContext, 'tenantId' | 'signal'>,
): Promise<void> {
  const actionId = payload.actionId
  const found = await findToken(deps, tenantId, actionId)
  if (!found) return
  await assertNotAllBlocked(deps, payload.recipients)
  const isStillWanted = async () => (await findToken(deps, tenantId, actionId)) !== undefined
  const receipt = await postToken(deps, { ...payload, actionId, ...tokensOf(found), signal, isStillWanted })
  if (!receipt.isVerified)
    throw new JobVerdict('the receiver cannot verify the token yet', { kind: 'retry', group: 'works' })
  await deps.onDelivered(tenantId, payload)
}

/** Fails unless one recipient is not blocked, by name or by its domain, wherever it is hosted. */
export async function assertNotAllBlocked(
  deps: Pick<DeliverDeps, 'isBlockedHere'>,
  recipients: readonly IdTag[],
): Promise<void> {
  for (const recipient of recipients) if (!(await deps.isBlockedHere(recipient))) return
  throw new JobVerdict('the recipients are blocked', { kind: 'dead' })
}

// Each is a request to another server.
const searchesAtOnce = 8

/** Finds the inboxes of recipients and queues the deliveries; recipients at one inbox share one. */
export async function findInboxesAndQueue(
  deps: DeliverDeps,
  payload: Static<(typeof findInboxJob)['payload']>,
  { tenantId }: Pick<JobContext, 'tenantId'>,
): Promise<void> {
  const recipients = payload.recipients
  const [only] = recipients
  const inboxes =
    recipients.length === 1 && only
      ? new Map([[only, await getInbox(deps, only, tenantId)]])
      : await findInboxes(deps, recipients, tenantId)
  const actionId = payload.actionId
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

async function getInbox(deps: DeliverDeps, recipient: IdTag, tenantId: TenantId): Promise<string> {
  await assertNotAllBlocked(deps, [recipient])
  const inbox = await deps.findInbox(recipient, tenantId)
  if (inbox.kind === 'unknown' && !inbox.isGone)
    throw new JobVerdict('its server does not describe the recipient', { kind: 'retry' })
  if (inbox.kind === 'unknown') throw new JobVerdict('the recipient does not exist', { kind: 'dead' })
  if (inbox.kind === 'unreachable')
    throw new JobVerdict('the server of the recipient cannot be reached', { kind: 'retry' })
  return inbox.inboxUrl
}

async function findInboxes(
  deps: DeliverDeps,
  recipients: readonly IdTag[],
  tenantId: TenantId,
): Promise<Map<IdTag, string>> {
  return askAll(recipients, async (recipient) => {
    const inbox = await deps.findInbox(recipient, tenantId)
    return inbox.kind === 'found' ? inbox.inboxUrl : undefined
  })
}

/** Delivers an action to recipients on this server. */
export async function deliverLocally(
  deps: Pick<
    DeliverDeps,
    'db' | 'clock' | 'findToken' | 'isSuspended' | 'isBlockedHere' | 'receiveLocally' | 'onDelivered'
  >,
  payload: Static<(typeof deliverLocallyJob)['payload']>,
  { tenantId }: Pick<JobContext, 'tenantId'>,
): Promise<void> {
  const actionId = payload.actionId
  const tokens = await getTokens(deps, tenantId, actionId)
  await deps.receiveLocally(tokens, payload.recipients, tenantId)
  await deps.onDelivered(tenantId, payload)
}
