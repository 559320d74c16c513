import Type from 'typebox'
import { jobKind } from '#infra/jobs/index.ts'

const minuteMs = 60_000

/** How often identities are swept: the table holds its bound, and what is looked up in this time. */
export const sweepIdentitiesPeriodMs = 10 * minuteMs

/** Removes identities of other servers that nobody has asked for in a week, and what is stored beyond the bound. */
export const sweepIdentitiesJob = jobKind({
  name: 'identities.sweep',
  payload: Type.Object({}),
  retry: { maxAttempts: 5, firstDelayMs: 5_000, longestDelayMs: minuteMs },
  concurrency: 1,
  leaseMs: minuteMs,
  keepDoneMs: 0,
})
