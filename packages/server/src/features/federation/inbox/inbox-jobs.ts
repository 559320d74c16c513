import Type from 'typebox'
import { jobKind } from '#infra/jobs/index.ts'

const minuteMs = 60_000

/** A token whose issuer's server could not be reached: verified later, and visible to nobody until then
 * (docs/protocol/delivery.md: at most once in 5 minutes and domain). Its handler drops it after a day. The queue would
 * keep a job that it gives up on for administrators, and strangers could fill the database with those. */
export const verifyLaterJob = jobKind({
  name: 'inbox.verify-later',
  payload: Type.Object({ token: Type.String(), beside: Type.Optional(Type.String()) }),
  retry: {
    maxAttempts: 1000,
    firstDelayMs: 5 * minuteMs,
    longestDelayMs: 60 * minuteMs,
  },
  concurrency: 4,
  group: { concurrency: 1, breakerFailures: 1, restMs: 5 * minuteMs, longestRestMs: 60 * minuteMs },
})

/** Stores a verified token at some of the tenants that it concerns, when they are many. */
export const storeLaterJob = jobKind({
  name: 'inbox.store',
  payload: Type.Object({
    token: Type.String(),
    beside: Type.Optional(Type.String()),
    tenantIds: Type.Array(Type.Integer()),
  }),
  retry: { maxAttempts: 20, firstDelayMs: 1_000, longestDelayMs: 10 * minuteMs },
  concurrency: 4,
})

/** Holds a verified token for one suspended tenant. Its handler drops it after a week, because the queue would keep a
 * job that it gives up on for administrators. */
export const holdJob = jobKind({
  name: 'inbox.hold',
  payload: Type.Object({ token: Type.String(), beside: Type.Optional(Type.String()) }),
  retry: { maxAttempts: 10_000, firstDelayMs: 10 * minuteMs, longestDelayMs: 60 * minuteMs },
  concurrency: 4,
  group: { concurrency: 1, breakerFailures: 1, restMs: 10 * minuteMs, longestRestMs: 60 * minuteMs },
})

/** Verifies what an import has brought along of one issuer. Its handler gives up after 30 days. */
export const verifyMovedJob = jobKind({
  name: 'inbox.verify-moved',
  payload: Type.Object({ issuerTag: Type.String() }),
  retry: { maxAttempts: 1000, firstDelayMs: minuteMs, longestDelayMs: 12 * 60 * minuteMs },
  concurrency: 2,
  group: { concurrency: 1, breakerFailures: 3, restMs: minuteMs, longestRestMs: 12 * 60 * minuteMs },
})

/** Fetches what an identity published before the tenant followed it or connected with it. */
export const fetchHistoryJob = jobKind({
  name: 'inbox.fetch-history',
  payload: Type.Object({ idTag: Type.String() }),
  retry: {
    maxAttempts: 10,
    giveUpAfterMs: 24 * 60 * minuteMs,
    firstDelayMs: minuteMs / 2,
    longestDelayMs: 60 * minuteMs,
  },
  concurrency: 4,
  group: { concurrency: 1, breakerFailures: 3, restMs: minuteMs, longestRestMs: 60 * minuteMs },
  freesDedupKey: true,
})
