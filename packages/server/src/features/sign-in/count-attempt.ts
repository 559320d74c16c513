import { type Database, serverTenant, type Writer } from '#infra/db/index.ts'
import type { Clock } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import { type AttemptBucket, takeAttempt } from './attempt-buckets.ts'
import { deleteIdleBuckets, findFullUntil, putFullUntil } from './attempt-store.ts'

/** Counts an attempt before it is made, so that parallel ones cannot slip by. `E-RATELIMIT` when a bucket is used up;
 * then nothing is counted. */
export async function countAttempt(
  { db, clock }: { readonly db: Database; readonly clock: Clock },
  buckets: readonly AttemptBucket[],
): Promise<void> {
  const retryAtMs = await db.transact(serverTenant, async (tx) => {
    const nowMs = clock.now()
    const taken: { bucket: AttemptBucket; fullUntilMs: number }[] = []
    for (const bucket of buckets) {
      const own = tx.as(bucket.tenantId)
      const taking = takeAttempt(bucket, await findFullUntil(own, bucket.key), nowMs)
      if ('retryAtMs' in taking) return taking.retryAtMs
      taken.push({ bucket, fullUntilMs: taking.fullUntilMs })
    }
    for (const { bucket, fullUntilMs } of taken) {
      const own = tx.as(bucket.tenantId)
      await deleteIdleBuckets(own, nowMs)
      await putFullUntil(own, bucket.key, fullUntilMs)
    }
    return undefined
  })
  if (retryAtMs !== undefined)
    throw new Failure('E-RATELIMIT', { retryAfterSecs: Math.ceil((retryAtMs - clock.now()) / 1000) })
}

/** Takes a counted attempt back, because it was right. */
export async function forgiveAttempt(tx: Writer, buckets: readonly AttemptBucket[]): Promise<void> {
  for (const bucket of buckets) {
    const own = tx.as(bucket.tenantId)
    const fullUntilMs = await findFullUntil(own, bucket.key)
    if (fullUntilMs !== undefined) await putFullUntil(own, bucket.key, fullUntilMs - bucket.refillMs)
  }
}
