import { findViewer } from '#features/relations/index.ts'
import type { Caller, Identified, Tenant } from '#infra/caller/index.ts'
import type { Reader, Writer } from '#infra/db/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import type { StoredAction } from '../action.ts'
import type { CreateDeps, MakeDeps, QueueDeps, StoreDeps } from '../action-ports.ts'
import { findStoredAction, insertAction } from '../action-store.ts'
import { publishLaterJob } from '../job-kinds.ts'
import { assertTimes } from './action-times.ts'
import { claimKey, findClaim, hashBody, type IdempotencyKey, putAnswer } from './idempotency-store.ts'
import { withIssueTime } from './issue-time.ts'
import { assertMayIssue } from './issuer.ts'
import { type ActionInput, parseAction } from './parse-action.ts'
import { prepareBody } from './prepare-action.ts'
import { draftAction, signAction } from './sign-action.ts'
import { storeAction } from './store-action.ts'
import { assertFitsToken } from './token-size.ts'

/** A request for an action. Times are Unix seconds. */
interface CreateAction {
  readonly tenant: Tenant
  readonly caller: Caller
  readonly input: ActionInput
  readonly idempotencyKey?: string | undefined
  /** Stored as a draft. */
  readonly draft?: boolean | undefined
  readonly publishAt?: number | undefined
  /** The time of the first publication as its issuer states it, elsewhere for instance. */
  readonly published?: number | undefined
}

/** An action that is not stored yet; signed, unless it is a draft. */
interface MadeAction {
  readonly tenant: Tenant
  readonly action: StoredAction
}

/** Makes an action: checked, signed, stored with its effects, and queued for its receivers in one transaction. */
export async function createAction(ports: CreateDeps, request: CreateAction): Promise<StoredAction> {
  const { tenant, caller } = request
  assertMayIssue(tenant, caller)
  const reader = ports.db.reader(tenant.tenantId)
  const now = nowSecs(ports.clock)
  const key = keyOf(request, caller)
  const earlier = key && (await findEarlier(reader, key, now))
  if (earlier) return earlier
  return withIssueTime(async () => {
    const made = await makeAction(ports, request)
    return ports.db.transact(tenant.tenantId, async (tx) => {
      if (key && !(await claimKey(tx, key, { actionId: made.action.actionId, now })))
        return getEarlier(tx, key, now)
      const stored = await storeMade(ports, tx, made)
      if (key) await putAnswer(tx, key, stored)
      return stored
    })
  })
}

/** Checks and signs an action, for callers that store it together with something else in one transaction. */
export async function makeAction(ports: MakeDeps, request: CreateAction): Promise<MadeAction> {
  const { tenant, caller, input, publishAt } = request
  assertMayIssue(tenant, caller)
  const reader = ports.db.reader(tenant.tenantId)
  const issuing = { tenant, caller, viewer: await findViewer(reader, tenant, caller, 'one') }
  const now = nowSecs(ports.clock)
  const body = await prepareBody(ports, reader, { issuing, body: parseAction(input) })
  assertTimes({ expiresAt: body.expiresAt, publishAt }, now)
  const draft = { ...draftAction(ports, issuing, body), publishedAt: request.published }
  assertFitsToken(draft)
  if (publishAt !== undefined && publishAt > now)
    return { tenant, action: { ...draft, status: 'S', publishAt } }
  if (request.draft) return { tenant, action: draft }
  return { tenant, action: await signAction(ports, reader, { tenant, draft }) }
}

/** Stores what `makeAction` made. Drafts have no effects. */
export async function storeMade(
  ports: StoreDeps,
  tx: Writer,
  { tenant, action }: MadeAction,
): Promise<StoredAction> {
  if (action.status !== 'R' && action.status !== 'S') return storeAction(ports, tx, { tenant, action })
  await insertAction(tx, action)
  if (action.publishAt !== undefined) await scheduleAction(ports, tx, action.actionId, action.publishAt)
  return action
}

/** Queues the publication. The job does nothing if the publication has been postponed or cancelled by then. */
export async function scheduleAction(
  ports: QueueDeps,
  tx: Writer,
  actionId: StoredAction['actionId'],
  publishAt: number,
): Promise<void> {
  await ports.jobs.enqueue(tx, publishLaterJob, { actionId }, { runAtMs: publishAt * 1000 })
}

function keyOf(request: CreateAction, caller: Identified): IdempotencyKey | undefined {
  const { idempotencyKey: key, input, draft, publishAt, published } = request
  if (key === undefined) return undefined
  // Absent members and empty lists hash alike.
  const said = Object.entries(input).filter(([, value]) => !(Array.isArray(value) && value.length === 0))
  const body = { input: Object.fromEntries(said), draft: draft || undefined, publishAt, published }
  return { callerTag: caller.idTag, key, bodyHash: hashBody(body) }
}

async function findEarlier(
  reader: Reader,
  key: IdempotencyKey,
  now: number,
): Promise<StoredAction | undefined> {
  const claim = await findClaim(reader, key, now)
  if (!claim) return undefined
  if (claim.bodyHash !== key.bodyHash)
    throw new Failure('E-DUPLICATE', { message: 'This idempotency key was used for another request.' })
  return claim.answer ?? findStoredAction(reader, claim.actionId)
}

async function getEarlier(reader: Reader, key: IdempotencyKey, now: number): Promise<StoredAction> {
  const earlier = await findEarlier(reader, key, now)
  if (!earlier) throw new Error('an idempotency key is taken by an action that is not stored')
  return earlier
}
