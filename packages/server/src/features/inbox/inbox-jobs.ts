import Type from 'typebox'
import { jobKind } from '#infra/jobs/index.ts'

const minuteMs = 60_000

/** A token whose issuer's server could not be reached: verified later, and until then visible to nobody
 * (DECISIONS part 11: at most once in 5 minutes and host, dropped after 24 h). */
export const verifyLaterJob = jobKind({
  name: 'inbox.verify-later',
  payload: Type.Object({ token: Type.String() }),
  retry: {
    maxAttempts: 300,
    giveUpAfterMs: 24 * 60 * minuteMs,
    firstDelayMs: 5 * minuteMs,
    longestDelayMs: 60 * minuteMs,
  },
  concurrency: 4,
  leaseMs: minuteMs,
  group: { concurrency: 1, breakerFailures: 1, restMs: 5 * minuteMs, longestRestMs: 60 * minuteMs },
  keepDoneMs: 0,
})

/** Stores a verified token at some of the tenants it concerns, when they are many. */
export const storeLaterJob = jobKind({
  name: 'inbox.store',
  payload: Type.Object({ token: Type.String(), tenantIds: Type.Array(Type.Integer()) }),
  retry: { maxAttempts: 20, firstDelayMs: 1_000, longestDelayMs: 10 * minuteMs },
  concurrency: 4,
  leaseMs: minuteMs,
  keepDoneMs: 0,
})
