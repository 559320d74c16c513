import type { JobQueue } from '#infra/jobs/index.ts'
import type { ContentsByType } from './contents/file-contents.ts'
import { removeContents, removeContentsJob } from './contents/remove-contents.ts'
import { type FetchAndTellDeps, fetchAndTell } from './copies/fetch-file.ts'
import { fetchFileJob, makeVariantsJob } from './file-jobs.ts'
import type { FileSweepDeps } from './file-sweeps.ts'
import type { AnnounceDeps } from './sharing/announce-share.ts'
import { reviewShares } from './sharing/review-shares.ts'
import { reviewSharesJob, withdrawShareJob } from './sharing/share-jobs.ts'
import { type SweepSharesDeps, withdrawShare } from './sharing/sweep-shares.ts'
import { makeVariants, type VariantDeps } from './variants/make-variants.ts'

export type FileJobDeps = FileSweepDeps &
  VariantDeps &
  SweepSharesDeps &
  AnnounceDeps &
  FetchAndTellDeps & { readonly contents: ContentsByType }

/** Registers everything that files do later. */
export function handleFileJobs(jobs: Pick<JobQueue, 'handle'>, deps: FileJobDeps): void {
  jobs.handle(makeVariantsJob, (payload, context) => makeVariants(deps, payload, context))
  jobs.handle(fetchFileJob, (payload, context) => fetchAndTell(deps, payload, context))
  jobs.handle(withdrawShareJob, (payload, context) => withdrawShare(deps, payload, context))
  jobs.handle(removeContentsJob, (payload, context) => removeContents(deps, payload, context))
  jobs.handle(reviewSharesJob, (_, context) => reviewShares(deps, context))
}
