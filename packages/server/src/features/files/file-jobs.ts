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
  isFairByTenant: 'by tenant',
  leaseMs: 120_000,
  keepDoneMs: 0,
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
  leaseMs: 300_000,
  group: { concurrency: 2, breakerFailures: 5, restMs: 60_000, longestRestMs: 3_600_000 },
  keepDoneMs: 0,
})

/** Once for each that says a file is theirs: one whose server has it not does not keep it from the other. */
export function fetchKeyOf(fileId: FileId, ownerTag: IdTag): string {
  return `${fileId} ${ownerTag}`
}

/** Takes away what uploads left whose process has died. */
export const endDeadUploadsJob = jobKind({
  name: 'files.end-dead-uploads',
  payload: Type.Object({}),
  retry: { maxAttempts: 3, firstDelayMs: 5_000, longestDelayMs: 60_000 },
  concurrency: 1,
  leaseMs: 60_000,
  keepDoneMs: 0,
})

/** Removes bytes that nothing uses any more. */
export const sweepBlobsJob = jobKind({
  name: 'files.sweep-blobs',
  payload: Type.Object({}),
  retry: { maxAttempts: 3, firstDelayMs: 10_000, longestDelayMs: 60_000 },
  concurrency: 1,
  leaseMs: 120_000,
  keepDoneMs: 0,
})

/** Takes copies away that were shared until a time that has passed. */
export const sweepCopiesJob = jobKind({
  name: 'files.sweep-copies',
  payload: Type.Object({}),
  retry: { maxAttempts: 3, firstDelayMs: 5_000, longestDelayMs: 60_000 },
  concurrency: 1,
  leaseMs: 60_000,
  keepDoneMs: 0,
})

/** Goes on with what broke off in the trash, and removes what has been in it for its time. */
export const sweepTrashJob = jobKind({
  name: 'files.sweep-trash',
  payload: Type.Object({}),
  retry: { maxAttempts: 3, firstDelayMs: 5_000, longestDelayMs: 60_000 },
  concurrency: 1,
  leaseMs: 600_000,
  keepDoneMs: 0,
})

/** Finds bytes of which no row knows. */
export const findOrphansJob = jobKind({
  name: 'files.find-orphans',
  payload: Type.Object({}),
  retry: { maxAttempts: 3, firstDelayMs: 60_000, longestDelayMs: 600_000 },
  concurrency: 1,
  leaseMs: 120_000,
  keepDoneMs: 0,
})
