import type { ActionId } from '@kith/protocol'
import type { ReceiveOutcome } from '#features/actions/index.ts'
import type { Tenant } from '#infra/caller/index.ts'
import { rateKeyOf } from '#infra/http/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { Failure, keyUnavailable } from '#lib/failure.ts'
import { applyWithdrawals } from './apply-withdrawals.ts'
import { type CheckedToken, checkToken, type Delivery, notNow } from './check-token.ts'
import type { ReceiveDeps } from './receive-deps.ts'
import {
  findConcernedBy,
  holdForSuspended,
  isSuspended,
  portionsOf,
  storeLater,
  storeToken,
  tenantsPerTransaction,
} from './store-token.ts'
import { verifyLater } from './verify-later.ts'

/** A posted token. */
export interface Posted extends Delivery {
  /** The sender's address. */
  readonly ip: string
}

/** The answer to a sender. */
export interface Receipt {
  readonly actionId: ActionId
  readonly verified: boolean
  /** Every tenant that it concerns has received it. */
  readonly isProcessed: boolean
}

// Suspensions last for hours or days.
const suspendedWaitSecs = 3600

// How long a sender may have a request wait for the work on its token (docs/protocol/delivery.md).
const syncBudgetMs = 5_000

/** Accepts a token from another server. The answer is durable: the action is stored, queued, or waits for its issuer's
 * key. */
export async function receiveToken(deps: ReceiveDeps, { ip, ...delivery }: Posted): Promise<Receipt> {
  const token = await readToken(deps, delivery)
  const { actionId } = token
  const sender = rateKeyOf(ip)
  if ((await deps.verifier.verify(token, sender)) === 'unreachable') {
    await verifyLater(deps, token, sender)
    return { actionId, verified: false, isProcessed: false }
  }
  const isWithdrawal = await applyWithdrawals(deps, token)
  const concerned = await findReceivers(deps, token)
  if (concerned.length === 0 && isWithdrawal) return { actionId, verified: true, isProcessed: true }
  if (concerned.length === 0) throw new Failure('E-NOTFOUND')
  if (concerned.length > tenantsPerTransaction) {
    await storeLater(deps, token, concerned)
    return { actionId, verified: true, isProcessed: false }
  }
  assertWanted(await storeToken(deps, token, concerned))
  return { actionId, verified: true, isProcessed: true }
}

/** The same, but answers when the tenants that it concerns have it, with the refusal of its hook if there is one. */
export async function receiveTokenNow(deps: ReceiveDeps, { ip, ...delivery }: Posted): Promise<Receipt> {
  const token = await readToken(deps, delivery)
  if ((await deps.verifier.verify(token, rateKeyOf(ip))) === 'unreachable')
    throw keyUnavailable({ retryAfterSecs: 60 })
  const isWithdrawal = await applyWithdrawals(deps, token)
  const concerned = await findReceivers(deps, token)
  if (concerned.length === 0 && !isWithdrawal) throw new Failure('E-NOTFOUND')
  const { outcomes, rest } = await storeInTime(deps, token, concerned)
  await storeLater(deps, token, rest)
  assertWanted(outcomes)
  for (const outcome of outcomes) if (outcome.kind === 'refused') throw outcome.failure
  return { actionId: token.actionId, verified: true, isProcessed: rest.length === 0 }
}

async function readToken(deps: ReceiveDeps, delivery: Delivery): Promise<CheckedToken> {
  const token = checkToken(delivery, nowSecs(deps.clock))
  for (const { issuerTag } of [token, ...(token.announced ? [token.announced] : [])])
    if (await deps.isBlockedHere(issuerTag)) throw new Failure('E-AUTH-FORBIDDEN')
  return token
}

// NOTE: after the signature is checked, because whom tenants here follow or block must not be disclosed to somebody who
// only claims to be the issuer.
async function findReceivers(deps: ReceiveDeps, token: CheckedToken): Promise<Tenant[]> {
  const concerned = await findConcernedBy(deps, token)
  if (concerned.length === 0) return []
  // The sender keeps the token. A token for other tenants as well must not be delayed by one that is suspended.
  if (concerned.every(isSuspended)) throw notNow({ retryAfterSecs: suspendedWaitSecs })
  return await holdForSuspended(deps, token, concerned)
}

async function storeInTime(deps: ReceiveDeps, token: CheckedToken, concerned: readonly Tenant[]) {
  const untilMs = deps.clock.now() + syncBudgetMs
  const outcomes: ReceiveOutcome[] = []
  const portions = portionsOf(concerned)
  while (portions.length > 0 && deps.clock.now() < untilMs)
    outcomes.push(...(await storeToken(deps, token, portions.shift() ?? [])))
  return { outcomes, rest: portions.flat() }
}

/** The issuer learns when no tenant has accepted the token. It does not learn which one of several has blocked it or
 * refuses strangers. */
function assertWanted(outcomes: readonly ReceiveOutcome[]): void {
  if (outcomes.length > 0 && outcomes.every(({ kind }) => kind === 'blocked' || kind === 'stranger'))
    throw new Failure('E-AUTH-FORBIDDEN')
  // Tenants that have accepted it already do not store it again when it is sent again.
  for (const outcome of outcomes)
    if (outcome.kind === 'limited')
      throw new Failure('E-RATELIMIT', { retryAfterSecs: outcome.retryAfterSecs })
}
