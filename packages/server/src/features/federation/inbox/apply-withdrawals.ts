import { putTombstone, type Withdrawal, withdrawalOf } from '#features/actions/index.ts'
import { serverTenant } from '#infra/db/index.ts'
import { registrableDomain } from '#infra/dns/index.ts'
import { listJobs } from '#infra/jobs/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import type { CheckedToken, Delivery } from './check-token.ts'
import { verifyLaterJob } from './inbox-jobs.ts'
import type { ReceiveDeps } from './receive-deps.ts'
import { checkAgain } from './store-token.ts'
import { waitingSender } from './verify-token.ts'

type Deps = Pick<ReceiveDeps, 'db' | 'clock' | 'verifier'>

// Each of them may cost the check of a signature.
const maxLookedAt = 20

/** Remembers what a verified token withdraws, before anything of it is stored and whomever it concerns, because the
 * action may still be on its way. For another token it applies withdrawals of it and of the announced one that wait
 * for the same key, so that they are not shown. True when the token is a withdrawal and now remembered. */
export async function applyWithdrawals(deps: Deps, token: CheckedToken): Promise<boolean> {
  const withdrawal = withdrawalOf(token.payload, token.issuerTag)
  if (withdrawal) return await rememberWithdrawal(deps, withdrawal)
  for (const brought of [token, ...(token.announced ? [token.announced] : [])])
    await applyWaitingWithdrawals(deps, brought)
  return false
}

async function applyWaitingWithdrawals(deps: Deps, { actionId, issuerTag }: CheckedToken): Promise<void> {
  const about = { kind: verifyLaterJob.name, subject: actionId, limit: maxLookedAt }
  for (const { payload } of await listJobs(deps.db.reader(serverTenant), about)) {
    const token = checkAgain(payload as Delivery, nowSecs(deps.clock))
    const withdrawal = token?.issuerTag === issuerTag && withdrawalOf(token.payload, issuerTag)
    if (withdrawal && (await isVerified(deps, token))) await rememberWithdrawal(deps, withdrawal)
  }
}

/** Remembers that an issuer has withdrawn an action, whoever holds it. False when too many of its domain are remembered
 * already. */
async function rememberWithdrawal({ db, clock }: Deps, withdrawal: Withdrawal): Promise<boolean> {
  const domain = await registrableDomain(withdrawal.issuerTag)
  const now = nowSecs(clock)
  return await db.transact(serverTenant, (tx) => putTombstone(tx, withdrawal, { domain, now }))
}

async function isVerified({ verifier }: Deps, token: CheckedToken): Promise<boolean> {
  try {
    return (await verifier.verify(token, waitingSender)) === true
  } catch (error) {
    if (error instanceof Failure) return false
    throw error
  }
}
