import Type from 'typebox'
import { jobKind } from '#infra/jobs/index.ts'

/** Queues the newer version of an app for those who have an older one and want newer ones, in portions. */
export const offerUpdatesJob = jobKind({
  name: 'apps.offer-updates',
  payload: Type.Object({
    actionId: Type.String(),
    /** The last tenant of the portion before. */
    after: Type.Integer(),
  }),
  retry: { maxAttempts: 10, firstDelayMs: 5_000, longestDelayMs: 600_000 },
  concurrency: 1,
})

/** Installs a newer version of an app. */
export const updateAppJob = jobKind({
  name: 'apps.update',
  payload: Type.Object({ actionId: Type.String() }),
  // About two days: time for the owner to free storage.
  retry: { maxAttempts: 20, firstDelayMs: 10_000, longestDelayMs: 6 * 3_600_000 },
  concurrency: 2,
  group: 'by tenant',
})
