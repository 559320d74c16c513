import Type from 'typebox'
import { jobKind } from '#infra/jobs/index.ts'

/** Installs a newer version of an app. */
export const updateAppJob = jobKind({
  name: 'apps.update',
  payload: Type.Object({ actionId: Type.String() }),
  // About two days: time for the owner to free storage, and for the publisher's server to be reached.
  retry: { maxAttempts: 20, firstDelayMs: 10_000, longestDelayMs: 6 * 3_600_000 },
  concurrency: 2,
  group: 'by tenant',
})
