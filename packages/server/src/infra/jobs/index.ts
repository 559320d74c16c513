import { jobLeasesMigrations } from './job-leases-migrations.ts'
import { jobQueueMigrations } from './jobs-migrations.ts'

export { removeDead } from './dead-job-store.ts'
export * from './job-kind.ts'
export { jobLeasesMigrations } from './job-leases-migrations.ts'
export {
  countByState,
  countJobs,
  countQueued,
  type GroupRecord,
  type JobRecord,
  listGroups,
  listJobs,
} from './job-list-store.ts'
export { listOpenJobs, pageDead, pageUnfinished } from './job-page-store.ts'
export { removeJobs, removeJobsAbout } from './job-purge-store.ts'
export { type JobQueue, openJobs } from './job-queue.ts'
export { jobQueueMigrations } from './jobs-migrations.ts'
export {
  addSweep,
  recurring,
  rowsPerPortion,
  type SweepDeps,
  sweep,
} from './recurring.ts'
export type { RunnerOptions } from './runner.ts'

/** All tables of the queue, for a database that has nothing else. */
export const jobsMigrations = [...jobQueueMigrations, ...jobLeasesMigrations]
