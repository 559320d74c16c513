import Type from 'typebox'
import { jobKind } from '#infra/jobs/index.ts'

/** Ends resumable uploads that nobody continued. */
export const sweepUploadsJob = jobKind({
  name: 'uploads.sweep',
  payload: Type.Object({}),
  retry: { maxAttempts: 3, firstDelayMs: 10_000, longestDelayMs: 60_000 },
  concurrency: 1,
  leaseMs: 120_000,
  keepDoneMs: 0,
})
