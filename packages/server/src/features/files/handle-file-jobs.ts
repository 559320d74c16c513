import type { JobQueue } from '#infra/jobs/index.ts'
import { findOrphans, type SweepDeps, sweepBlobs } from './blobs/sweep-blobs.ts'
import { type FetchAndTellDeps, fetchAndTell } from './copies/fetch-file.ts'
import { sweepCopies } from './copies/sweep-copies.ts'
import {
  endDeadUploadsJob,
  fetchFileJob,
  findOrphansJob,
  makeVariantsJob,
  sweepBlobsJob,
  sweepCopiesJob,
  sweepTrashJob,
} from './file-jobs.ts'
import { sweepTrash } from './folders/sweep-trash.ts'
import type { TrashDeps } from './folders/trash-file.ts'
import type { AnnounceDeps } from './sharing/announce-share.ts'
import { reviewShares } from './sharing/review-shares.ts'
import { reviewSharesJob, sweepSharesJob, withdrawShareJob } from './sharing/share-jobs.ts'
import { ShareSweep, type SweepSharesDeps, withdrawShare } from './sharing/sweep-shares.ts'
import { type DeadUploadDeps, endDeadUploads } from './upload/end-dead-uploads.ts'
import { type SweepUploadsDeps, sweepUploads } from './upload/sweep-uploads.ts'
import { sweepUploadsJob } from './upload/upload-jobs.ts'
import { makeVariants, type VariantDeps } from './variants/make-variants.ts'

const minuteMs = 60_000
const dayMs = 86_400_000

export type FileJobDeps = SweepDeps &
  VariantDeps &
  DeadUploadDeps &
  TrashDeps &
  SweepUploadsDeps &
  SweepSharesDeps &
  AnnounceDeps &
  FetchAndTellDeps

/** Registers everything that files do later. */
export function handleFileJobs(jobs: Pick<JobQueue, 'handle'>, deps: FileJobDeps): void {
  jobs.handle(makeVariantsJob, (payload, context) => makeVariants(deps, payload, context))
  jobs.handle(fetchFileJob, (payload, context) => fetchAndTell(deps, payload, context))
  jobs.handle(withdrawShareJob, (payload, context) => withdrawShare(deps, payload, context))
  jobs.handle(reviewSharesJob, (_, context) => reviewShares(deps, context))
  const shares = new ShareSweep(deps)
  jobs.handle(sweepSharesJob, () => shares.run())
  jobs.handle(sweepBlobsJob, () => sweepBlobs(deps))
  jobs.handle(endDeadUploadsJob, () => endDeadUploads(deps))
  jobs.handle(findOrphansJob, () => findOrphans(deps))
  jobs.handle(sweepUploadsJob, () => sweepUploads(deps))
  jobs.handle(sweepCopiesJob, () => sweepCopies(deps))
  jobs.handle(sweepTrashJob, () => sweepTrash(deps))
}

/** Says when the sweeps of files run by themselves. */
export function scheduleFileSweeps(jobs: Pick<JobQueue, 'every'>): void {
  jobs.every(sweepSharesJob, minuteMs)
  jobs.every(sweepCopiesJob, minuteMs)
  jobs.every(sweepTrashJob, minuteMs)
  jobs.every(sweepBlobsJob, 10 * minuteMs)
  jobs.every(sweepUploadsJob, 10 * minuteMs)
  // With the lease that ends before, less than a minute.
  jobs.every(endDeadUploadsJob, minuteMs / 4)
  jobs.every(findOrphansJob, dayMs)
}
