import Type from 'typebox'
import { jobKind } from '#infra/jobs/index.ts'

const minuteMs = 60_000

/** A token whose issuer's server could not be reached: verified later, and until then visible to nobody
 * (docs/protocol/delivery.md: at most once in 5 minutes and domain). After a day it is dropped, which its handler does: jobs
 * that end by themselves are kept for admins, and strangers could fill the database with them. */
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

/** Stores a verified token at some of the tenants it concerns, when they are many. */
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

/** Keeps a verified token for one tenant that is suspended. Its handler drops it after a week: jobs that end by
 * themselves are kept for admins. */
export const holdJob = jobKind({
  name: 'inbox.hold',
  payload: Type.Object({ token: Type.String(), beside: Type.Optional(Type.String()) }),
  retry: { maxAttempts: 10_000, firstDelayMs: 10 * minuteMs, longestDelayMs: 60 * minuteMs },
  concurrency: 4,
  group: { concurrency: 1, breakerFailures: 1, restMs: 10 * minuteMs, longestRestMs: 60 * minuteMs },
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
