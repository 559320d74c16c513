import Type from 'typebox'
import { jobKind } from '#infra/jobs/index.ts'

/** Installs the newest version of an app that is offered. */
export const updateAppJob = jobKind({
  name: 'apps.update',
  payload: Type.Object({ publisherTag: Type.String(), name: Type.String() }),
  // About two days: time for the owner to free storage, and for the publisher's server to be reached.
  retry: { maxAttempts: 20, firstDelayMs: 10_000, longestDelayMs: 6 * 3_600_000 },
  // Most of them wait for a publisher's server; checking has its own turns.
  concurrency: 16,
  group: 'by tenant',
  // An offer that arrives while an older one is being installed has a job of its own, after that.
  freesDedupKey: true,
})
