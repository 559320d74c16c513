import { createHash } from 'node:crypto'
import { withdrawalOf } from '#features/actions/index.ts'
import { serverTenant, type Writer } from '#infra/db/index.ts'
import { registrableDomain } from '#infra/dns/index.ts'
import type { JobContext } from '#infra/jobs/index.ts'
import { nowSecs } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { applyWithdrawals } from './apply-withdrawals.ts'
import type { CheckedToken, Delivery } from './check-token.ts'
import { verifyLaterJob } from './inbox-jobs.ts'
import type { ReceiveDeps } from './receive-deps.ts'
import { checkQueued, deliveryOf, findConcernedBy, storeLater } from './store-token.ts'
import { isGenuine } from './verify-token.ts'
import {
  type Amount,
  deleteOverdue,
  deleteWaiting,
  insertWaiting,
  isWaiting,
  sumWaiting,
  type WaitingToken,
} from './waiting-token-store.ts'

const mebibyte = 1024 * 1024
// Anybody can name issuers below a domain of their own, so these share one bound and one queue. Senders with many
// domains have few addresses, so there is a bound for each address as well.
const mostOfDomain: Amount = { tokens: 200, bytes: 2 * mebibyte }
const mostOfSender: Amount = { tokens: 800, bytes: 4 * mebibyte }
const mostInAll: Amount = { tokens: 4000, bytes: 16 * mebibyte }
const maxWaitingMs = 24 * 3_600_000
// The sender's own retries take about as long anyway.
const retryAfterSecs = 300

/** Stores a token until the keys of its issuer can be fetched. A token that concerns nobody here is not stored, unless
 * it withdraws an action that may wait here or come later. The sender is not told, because a token may be anybody's
 * until its signature is verified. */
export async function verifyLater(deps: ReceiveDeps, token: CheckedToken, sender: string): Promise<void> {
  const concerned = await findConcernedBy(deps, token)
  const withdrawal = withdrawalOf(token.payload, token.issuerTag)
  if (concerned.length === 0 && !withdrawal) return
  const domain = await registrableDomain(token.issuerTag)
  // By its text: a forged token that names the same action must not replace the true one.
  const delivery = deliveryOf(token)
  const tokenHash = hashOf(delivery)
  const bytes = Buffer.byteLength(delivery.token + (delivery.beside ?? ''))
  const waiting = { tokenHash, domain, sender, bytes }
  await deps.db.transact(serverTenant, async (tx) => {
    if (await isWaiting(tx, tokenHash)) return
    const receivedAt = nowSecs(deps.clock)
    await deleteOverdue(tx, receivedAt - 2 * (maxWaitingMs / 1000))
    await assertFreeSlot(tx, waiting)
    await insertWaiting(tx, { ...waiting, receivedAt })
    const subject = withdrawal ? { subject: withdrawal.actionId } : {}
    const options = { groupKey: domain, dedupKey: tokenHash, ...subject }
    await deps.jobs.enqueue(tx, verifyLaterJob, delivery, options)
  })
}

/** `E-UNAVAILABLE` when too many tokens wait; the sender tries again. */
async function assertFreeSlot(
  tx: Writer,
  { bytes, ...whose }: Pick<WaitingToken, 'domain' | 'sender' | 'bytes'>,
): Promise<void> {
  const { all, ofDomain, ofSender } = await sumWaiting(tx, whose)
  const isOver = (held: Amount, most: Amount) => held.tokens >= most.tokens || held.bytes + bytes > most.bytes
  if (isOver(ofDomain, mostOfDomain) || isOver(ofSender, mostOfSender) || isOver(all, mostInAll))
    throw new Failure('E-UNAVAILABLE', { retryAfterSecs })
}

function hashOf({ token, beside = '' }: Delivery): string {
  return createHash('sha256').update(`${token} ${beside}`).digest('base64url')
}

/** Tries again to verify a token that waited for its issuer's key, and passes it on. */
export async function verifyWaitingToken(
  deps: ReceiveDeps,
  delivery: Delivery,
  context: Pick<JobContext, 'createdAtMs'>,
): Promise<void> {
  await tryAgain(deps, delivery, context)
  await deps.db.transact(serverTenant, (tx) => deleteWaiting(tx, hashOf(delivery)))
}

async function tryAgain(
  deps: ReceiveDeps,
  delivery: Delivery,
  context: Pick<JobContext, 'createdAtMs'>,
): Promise<void> {
  const token = checkQueued(delivery, nowSecs(deps.clock))
  if (!token || context.createdAtMs + maxWaitingMs <= deps.clock.now()) return
  if (await deps.isBlockedHere((token.announced ?? token).issuerTag)) return
  if (!(await isGenuine(deps, token))) return
  await applyWithdrawals(deps, token)
  await storeLater(deps, token, await findConcernedBy(deps, token))
}
