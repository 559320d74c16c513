import Type from 'typebox'
import { jobKind } from '#infra/jobs/index.ts'

/** Tells an identity that a file is no longer shared with it, when nobody is there to be told that it failed. */
export const withdrawShareJob = jobKind({
  name: 'shares.withdraw',
  payload: Type.Object({ fileId: Type.String(), audienceTag: Type.String() }),
  retry: { maxAttempts: 10, firstDelayMs: 5_000, longestDelayMs: 600_000 },
  concurrency: 2,
  group: 'by tenant',
})

/** Reviews shares of a tenant that are in doubt, since what they rest on has ended or become less. */
export const reviewSharesJob = jobKind({
  name: 'shares.review',
  payload: Type.Object({}),
  retry: { maxAttempts: 10, firstDelayMs: 1_000, longestDelayMs: 60_000 },
  concurrency: 1,
  group: 'by tenant',
  freesDedupKey: true,
})
