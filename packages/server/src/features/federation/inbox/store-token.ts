import { createHash } from 'node:crypto'
import type { ReceivedAction, ReceiveOutcome } from '#features/actions/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import { serverTenant, type TenantId, type Writer } from '#infra/db/index.ts'
import { registrableDomain } from '#infra/dns/index.ts'
import { countQueued, type Jobs, JobVerdict } from '#infra/jobs/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { type CheckedToken, checkToken, type Delivery } from './check-token.ts'
import { holdJob, storeLaterJob } from './inbox-jobs.ts'
import type { ReceiveDeps, Receiver } from './receive-deps.ts'
import { isGenuine } from './verify-token.ts'

// 50 MB, when all tokens are as large as a token may be. Beyond this number a resumed tenant does not get them.
const maxHeldPerTenant = 200

export type StoreDeps = Pick<
  ReceiveDeps,
  'db' | 'clock' | 'jobs' | 'verifier' | 'receiveAction' | 'findTenantById'
>

/** The number of tenants that are served in one transaction, while the sender waits; jobs serve more. */
export const tenantsPerTransaction = 16

/** Stores a verified token at some tenants, at all of them or at none. */
export async function storeToken(
  deps: Pick<StoreDeps, 'db' | 'receiveAction'>,
  token: CheckedToken,
  tenants: readonly Tenant[],
): Promise<ReceiveOutcome[]> {
  const received = await receivedOf(token)
  return await deps.db.transact(serverTenant, async (tx) => {
    const outcomes: ReceiveOutcome[] = []
    for (const tenant of tenants) {
      outcomes.push(await deps.receiveAction(tx.as(tenant.tenantId), { tenant, received }))
    }
    return outcomes
  })
}

async function receivedOf(token: CheckedToken): Promise<ReceivedAction> {
  const { text, payload, actionId, issuerTag, announced } = token
  const issuerDomain = await registrableDomain(issuerTag)
  const received = { token: text, payload, actionId, issuerTag, issuerDomain }
  return announced ? { ...received, announced: await receivedOf(announced) } : received
}

/** The texts of a token, to be stored until it is processed again. */
export function deliveryOf({ text, announced }: CheckedToken): Delivery {
  return { token: text, ...(announced ? { beside: announced.text } : {}) }
}

/** The tenants of this server that a token concerns. */
export function findConcernedBy(
  deps: Pick<ReceiveDeps, 'db' | 'findConcerned'>,
  { payload, announced }: CheckedToken,
): Promise<Receiver[]> {
  return deps.findConcerned(deps.db.reader(serverTenant), payload, announced?.payload)
}

/** Queues a verified token for tenants; one issuer's tokens keep their order. */
export async function storeLater(
  deps: Pick<StoreDeps, 'db' | 'jobs'>,
  token: CheckedToken,
  tenants: readonly Tenant[],
): Promise<void> {
  const jobs = portionsOf(tenants).map((portion) => ({
    payload: { ...deliveryOf(token), tenantIds: portion.map(({ tenantId }) => tenantId as number) },
    options: { orderingKey: token.issuerTag },
  }))
  if (jobs.length > 0)
    await deps.db.transact(serverTenant, (tx) => deps.jobs.enqueueAll(tx, storeLaterJob, jobs))
}

/** Holds a verified token for those of the tenants that are suspended; answers the others. */
export async function holdForSuspended(
  deps: Pick<StoreDeps, 'db' | 'jobs'>,
  token: CheckedToken,
  tenants: readonly Receiver[],
): Promise<Tenant[]> {
  const delivery = deliveryOf(token)
  for (const { tenantId } of tenants.filter(isSuspended))
    await deps.db.transact(tenantId, (tx) => holdToken(deps, tx, delivery))
  return tenants.filter((tenant) => !isSuspended(tenant))
}

/** Holds a token for the tenant of `tx`, unless that has too many. */
export async function holdToken(
  { jobs }: { readonly jobs: Pick<Jobs, 'enqueue'> },
  tx: Writer,
  delivery: Delivery,
): Promise<void> {
  const groupKey = String(tx.tenantId)
  const held = { kind: holdJob.name, groupKey, atMost: maxHeldPerTenant }
  if ((await countQueued(tx, held)) >= maxHeldPerTenant) return
  const dedupKey = createHash('sha256').update(delivery.token).digest('base64url')
  await jobs.enqueue(tx, holdJob, delivery, { groupKey, dedupKey })
}

export function isSuspended({ suspendedAt }: Receiver): boolean {
  return suspendedAt !== undefined
}

/** Stores a token, which it verifies again, at the tenants that a job names. */
export async function storeAtTenants(
  deps: StoreDeps,
  input: Delivery & { readonly tenantIds: readonly number[] },
): Promise<void> {
  const tenants = await Promise.all(
    input.tenantIds.map((tenantId) => deps.findTenantById(tenantId as TenantId)),
  )
  const token = checkQueued(input, nowSecs(deps.clock))
  if (token && (await isGenuine(deps, token)))
    await receiveLocally(
      deps,
      token,
      tenants.filter((tenant) => tenant !== undefined),
    )
}

/** Delivers a token to tenants without checking its signature: the caller has, or its issuer sends it from the same
 * database. */
export async function receiveLocally(
  deps: Pick<StoreDeps, 'db' | 'clock' | 'jobs' | 'receiveAction'>,
  token: CheckedToken,
  tenants: readonly Receiver[],
): Promise<void> {
  const active = await holdForSuspended(deps, token, tenants)
  for (const portion of portionsOf(active)) await storeToken(deps, token, portion)
}

/** Portions for one transaction each. */
export function portionsOf(tenants: readonly Tenant[]): Tenant[][] {
  return Array.from({ length: Math.ceil(tenants.length / tenantsPerTransaction) }, (_, at) =>
    tenants.slice(at * tenantsPerTransaction, (at + 1) * tenantsPerTransaction),
  )
}

/** Checks a token that did not come through the inbox now; undefined when it is not valid. */
export function checkAgain(delivery: Delivery, now: number): CheckedToken | undefined {
  try {
    return checkToken(delivery, now)
  } catch (error) {
    if (error instanceof Failure) return undefined
    throw error
  }
}

/** Checks a token that was valid when it was queued; undefined when it no longer is. If the clock was set back since,
 * its job waits. */
export function checkQueued(delivery: Delivery, now: number): CheckedToken | undefined {
  try {
    return checkToken(delivery, now)
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    if (error.code !== 'E-UNAVAILABLE') return undefined
    const atMs = (now + (error.retryAfterSecs ?? 0)) * 1000
    throw new JobVerdict(error.message, { kind: 'retry', atMs }, error)
  }
}
