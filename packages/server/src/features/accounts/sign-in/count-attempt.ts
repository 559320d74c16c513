import { type Database, serverTenant, type Writer } from '#infra/db/index.ts'
import type { Clock } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { type AttemptBucket, type AttemptTurn, takeAttempt } from './attempt-buckets.ts'
import { deleteIdleBuckets, findFullUntil, putFullUntil } from './attempt-store.ts'

// Time for a person who was told when to retry and is late.
const turnKeptMs = 10 * 60_000
// 5 760 addresses that attack one account at once; its owner can still sign in by mail or with another device.
const longestWaitMs = 24 * 3_600_000

/** Counts an attempt before it is made, so that parallel ones cannot slip by. `E-RATELIMIT` when a bucket is used up;
 * then nothing is counted, unless the bucket is shared and there is a `turn`: the attempt is counted now, and may be made
 * when its turn has come, whatever others do until then. */
export async function countAttempt(
  { db, clock }: { readonly db: Database; readonly clock: Clock },
  buckets: readonly AttemptBucket[],
  turn?: AttemptTurn,
): Promise<void> {
  const refusal = await db.transact(serverTenant, async (tx) => {
    const nowMs = clock.now()
    const turnAtMs = turn && (await findTurn(tx, turn))
    if (turn && turnAtMs !== undefined && turnAtMs + turnKeptMs > nowMs)
      return turnAtMs > nowMs ? { retryAtMs: turnAtMs, limit: burstOf(buckets) } : await endTurn(tx, turn)
    return await take(tx, { buckets, turn, nowMs })
  })
  if (!refusal) return
  const { retryAtMs, limit } = refusal
  throw new Failure('E-RATELIMIT', { retryAfterSecs: Math.ceil((retryAtMs - clock.now()) / 1000), limit })
}

/** The same in a transaction of the caller's, without a turn: undefined when the attempt may be made. */
export function countWithin(
  tx: Writer,
  buckets: readonly AttemptBucket[],
  nowMs: number,
): Promise<Refusal | undefined> {
  return take(tx, { buckets, turn: undefined, nowMs })
}

interface Refusal {
  readonly retryAtMs: number
  readonly limit: number
}

interface Taking {
  readonly buckets: readonly AttemptBucket[]
  readonly turn: AttemptTurn | undefined
  readonly nowMs: number
}

/** When to retry, and which bucket was full; undefined when the attempt may be made now. */
async function take(tx: Writer, { buckets, turn, nowMs }: Taking): Promise<Refusal | undefined> {
  const taken: { bucket: AttemptBucket; fullUntilMs: number; roomAtMs: number }[] = []
  for (const bucket of buckets) {
    const taking = takeAttempt(bucket, await findFullUntil(tx.as(bucket.tenantId), bucket.key), nowMs)
    const mayWait = bucket.isShared && turn && taking.roomAtMs <= nowMs + longestWaitMs
    if (taking.roomAtMs > nowMs && !mayWait) return { retryAtMs: taking.roomAtMs, limit: bucket.burst }
    taken.push({ bucket, ...taking })
  }
  for (const { bucket, fullUntilMs } of taken) {
    const own = tx.as(bucket.tenantId)
    await deleteIdleBuckets(own, nowMs)
    await putFullUntil(own, bucket.key, fullUntilMs)
  }
  const atMs = Math.max(nowMs, ...taken.map(({ roomAtMs }) => roomAtMs))
  if (!turn || atMs <= nowMs) return undefined
  await giveTurn(tx, turn, atMs)
  return { retryAtMs: atMs, limit: burstOf(buckets) }
}

/** Of the buckets with waiting turns, the account's comes first. */
function burstOf(buckets: readonly AttemptBucket[]): number {
  return buckets.find(({ isShared }) => isShared)?.burst ?? 0
}

/** Reserves an attempt at that time, whatever others do until then. */
export async function giveTurn(tx: Writer, { tenantId, key }: AttemptTurn, atMs: number): Promise<void> {
  await putFullUntil(tx.as(tenantId), key, atMs + turnKeptMs)
}

async function findTurn(tx: Writer, { tenantId, key }: AttemptTurn): Promise<number | undefined> {
  const keptUntilMs = await findFullUntil(tx.as(tenantId), key)
  return keptUntilMs === undefined ? undefined : keptUntilMs - turnKeptMs
}

async function endTurn(tx: Writer, { tenantId, key }: AttemptTurn): Promise<undefined> {
  await putFullUntil(tx.as(tenantId), key, 0)
}

/** Takes a counted attempt back, because it was right. */
export async function forgiveAttempt(tx: Writer, buckets: readonly AttemptBucket[]): Promise<void> {
  for (const bucket of buckets) {
    const own = tx.as(bucket.tenantId)
    const fullUntilMs = await findFullUntil(own, bucket.key)
    if (fullUntilMs !== undefined) await putFullUntil(own, bucket.key, fullUntilMs - bucket.refillMs)
  }
}
