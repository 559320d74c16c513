import type { FileId, IdTag } from '@kith/protocol'
import Type from 'typebox'
import { jobKind } from '#infra/jobs/index.ts'

/** Makes the variants of an uploaded or fetched picture. */
export const makeVariantsJob = jobKind({
  name: 'files.make-variants',
  payload: Type.Object({ fileId: Type.String() }),
  // About a day: a picture at fault is told at once, so what fails is the store, the disk or the machine.
  retry: { maxAttempts: 32, firstDelayMs: 5_000, longestDelayMs: 3_600_000 },
  concurrency: 2,
  group: 'by tenant',
})

/** Fetches a file that came with an action from the server of its owner. */
export const fetchFileJob = jobKind({
  name: 'files.fetch',
  payload: Type.Object({
    fileId: Type.String(),
    ownerTag: Type.String(),
    /** Who passed the action on, and has the file as well. */
    sourceTag: Type.Optional(Type.String()),
    /** Somebody wants to read it now, however large it is. */
    isOnDemand: Type.Optional(Type.Boolean()),
  }),
  retry: {
    maxAttempts: 50,
    giveUpAfterMs: 7 * 86_400_000,
    firstDelayMs: 10_000,
    longestDelayMs: 6 * 3_600_000,
  },
  concurrency: 4,
  group: { concurrency: 2, breakerFailures: 5, restMs: 60_000, longestRestMs: 3_600_000 },
})

/** Once for each that says a file is theirs: one whose server has it not does not keep it from the other. */
export function fetchKeyOf(fileId: FileId, ownerTag: IdTag): string {
  return `${fileId} ${ownerTag}`
}
