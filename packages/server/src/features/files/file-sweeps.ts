import { type Jobs, recurring } from '#infra/jobs/index.ts'
import { findOrphans, type SweepDeps, sweepBlobs } from './blobs/sweep-blobs.ts'
import { sweepCopies } from './copies/sweep-copies.ts'
import { sweepTrash } from './folders/sweep-trash.ts'
import type { TrashDeps } from './folders/trash-file.ts'
import { ShareSweep, type SweepSharesDeps } from './sharing/sweep-shares.ts'
import { type DeadUploadDeps, endDeadUploads } from './upload/end-dead-uploads.ts'
import { type SweepUploadsDeps, sweepUploads } from './upload/sweep-uploads.ts'

export type FileSweepDeps = SweepDeps & DeadUploadDeps & TrashDeps & SweepUploadsDeps & SweepSharesDeps

const minuteMs = 60_000

/** Removes bytes, copies, shares, uploads and what is in the trash when they have had their time. */
export function addFileSweeps(jobs: Pick<Jobs, 'handle'>, deps: FileSweepDeps): void {
  const shares = new ShareSweep(deps)
  const sweeps = [
    { name: 'shares.sweep', everyMs: minuteMs, run: () => shares.run() },
    { name: 'files.sweep-copies', everyMs: minuteMs, run: () => sweepCopies(deps) },
    { name: 'files.sweep-trash', everyMs: minuteMs, run: () => sweepTrash(deps) },
    { name: 'files.sweep-blobs', everyMs: 10 * minuteMs, run: () => sweepBlobs(deps) },
    // With the lease that ends before, less than a minute.
    { name: 'files.end-dead-uploads', everyMs: minuteMs / 4, run: () => endDeadUploads(deps) },
    { name: 'files.find-orphans', everyMs: 24 * 60 * minuteMs, run: () => findOrphans(deps) },
    { name: 'uploads.sweep', everyMs: 10 * minuteMs, run: () => sweepUploads(deps) },
  ]
  for (const sweep of sweeps) recurring(jobs, sweep)
}
