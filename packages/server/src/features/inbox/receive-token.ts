import type { ActionId, ActionTokenPayload } from '@kith/protocol'
import { getDomain } from 'tldts'
import type { ReceivedAction, ReceiveOutcome } from '#features/actions/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import { type Database, type Reader, serverTenant, type TenantId, type Writer } from '#infra/db/index.ts'
import { countQueued, type Jobs } from '#infra/jobs/index.ts'
import { type Clock, nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { type CheckedToken, checkToken } from './check-token.ts'
import { storeLaterJob, verifyLaterJob } from './inbox-jobs.ts'
import type { TokenVerifier } from './verify-token.ts'

export interface ReceiveDeps {
  readonly db: Database
  readonly clock: Clock
  readonly jobs: Jobs
  readonly verifier: TokenVerifier
  /** The tenants of this server that an action concerns. */
  readonly findConcerned: (reader: Reader, payload: ActionTokenPayload) => Promise<Tenant[]>
  readonly findTenantById: (tenantId: TenantId) => Promise<Tenant | undefined>
  /** Stores an action at one tenant, with its effects there. */
  readonly receiveAction: (
    tx: Writer,
    arrival: { readonly tenant: Tenant; readonly received: ReceivedAction },
  ) => Promise<ReceiveOutcome>
}

// So many tenants are served while the sender waits; more are served by jobs, in portions of this size.
const tenantsPerTransaction = 16
// Anybody can name issuers under a domain of their own: they share one bound and one queue.
const maxWaitingPerDomain = 200

export interface Receipt {
  readonly actionId: ActionId
  readonly verified: boolean
}

/** Takes a token from another server. What it answers is durable: the action is stored, or waits for its issuer's key. */
export async function receiveToken(deps: ReceiveDeps, text: string): Promise<Receipt> {
  const token = checkToken(text, nowSecs(deps.clock))
  if ((await deps.verifier.verify(token)) === 'unreachable') {
    await verifyLater(deps, token)
    return { actionId: token.actionId, verified: false }
  }
  const concerned = await getConcerned(deps, token)
  if (concerned.length > tenantsPerTransaction) await storeLater(deps, token, concerned)
  else assertWanted(await store(deps, token, concerned))
  return { actionId: token.actionId, verified: true }
}

/** The same, but answers only when every concerned tenant has it, with the refusal of its hook if there is one. */
export async function receiveTokenNow(deps: ReceiveDeps, text: string): Promise<Receipt> {
  const token = checkToken(text, nowSecs(deps.clock))
  if ((await deps.verifier.verify(token)) === 'unreachable') throw new Failure('E-UNAVAILABLE')
  const concerned = await getConcerned(deps, token)
  const outcomes: ReceiveOutcome[] = []
  for (let at = 0; at < concerned.length; at += tenantsPerTransaction) {
    outcomes.push(...(await store(deps, token, concerned.slice(at, at + tenantsPerTransaction))))
  }
  assertWanted(outcomes)
  for (const outcome of outcomes) if (outcome.kind === 'refused') throw outcome.failure
  return { actionId: token.actionId, verified: true }
}

/** Tries again to verify a token that waited for its issuer's key. */
export async function verifyWaitingToken(deps: ReceiveDeps, text: string): Promise<'done' | 'unreachable'> {
  const token = checkToken(text, nowSecs(deps.clock))
  if ((await deps.verifier.verify(token)) === 'unreachable') return 'unreachable'
  const concerned = await deps.findConcerned(deps.db.reader(serverTenant), token.payload)
  await storeLater(deps, token, concerned)
  return 'done'
}

/** Stores a verified token at the tenants a job names. */
export async function storeAtTenants(
  deps: ReceiveDeps,
  input: { readonly token: string; readonly tenantIds: readonly number[] },
): Promise<void> {
  const token = checkToken(input.token, nowSecs(deps.clock))
  const tenants = await Promise.all(
    input.tenantIds.map((tenantId) => deps.findTenantById(tenantId as TenantId)),
  )
  await store(
    deps,
    token,
    tenants.filter((tenant) => tenant !== undefined),
  )
}

/** Hands a token of one tenant of this server to others here: its issuer wrote it in the same database. */
export async function receiveLocally(
  deps: ReceiveDeps,
  text: string,
  tenants: readonly Tenant[],
): Promise<void> {
  await store(deps, checkToken(text, nowSecs(deps.clock)), tenants)
}

async function getConcerned(deps: ReceiveDeps, token: CheckedToken): Promise<Tenant[]> {
  const concerned = await deps.findConcerned(deps.db.reader(serverTenant), token.payload)
  if (concerned.length === 0) throw new Failure('E-NOTFOUND')
  return concerned
}

async function store(
  deps: ReceiveDeps,
  token: CheckedToken,
  tenants: readonly Tenant[],
): Promise<ReceiveOutcome[]> {
  const { text, payload, actionId, issuerTag } = token
  return await deps.db.transact(serverTenant, async (tx) => {
    const outcomes: ReceiveOutcome[] = []
    for (const tenant of tenants) {
      const received = { token: text, payload, actionId, issuerTag }
      outcomes.push(await deps.receiveAction(tx.as(tenant.tenantId), { tenant, received }))
    }
    return outcomes
  })
}

async function storeLater(deps: ReceiveDeps, token: CheckedToken, tenants: readonly Tenant[]): Promise<void> {
  const portions = Array.from({ length: Math.ceil(tenants.length / tenantsPerTransaction) }, (_, at) =>
    tenants.slice(at * tenantsPerTransaction, (at + 1) * tenantsPerTransaction),
  )
  const jobs = portions.map((portion, at) => ({
    payload: { token: token.text, tenantIds: portion.map(({ tenantId }) => tenantId as number) },
    options: { dedupKey: `${token.actionId}|${at}`, orderingKey: `${token.issuerTag}|${at}` },
  }))
  await deps.db.transact(serverTenant, (tx) => deps.jobs.enqueueAll(tx, storeLaterJob, jobs))
}

async function verifyLater(deps: ReceiveDeps, token: CheckedToken): Promise<void> {
  await deps.db.transact(serverTenant, async (tx) => {
    const groupKey = getDomain(token.issuerTag) ?? token.issuerTag
    const waiting = { kind: verifyLaterJob.name, groupKey, atMost: maxWaitingPerDomain }
    if ((await countQueued(tx, waiting)) >= maxWaitingPerDomain) throw new Failure('E-UNAVAILABLE')
    const options = { groupKey, dedupKey: token.actionId }
    await deps.jobs.enqueue(tx, verifyLaterJob, { token: token.text }, options)
  })
}

/** Nobody may learn that one of several receivers blocked the issuer, but the issuer learns when all did. */
function assertWanted(outcomes: readonly ReceiveOutcome[]): void {
  if (outcomes.every(({ kind }) => kind === 'blocked')) throw new Failure('E-AUTH-FORBIDDEN')
}
