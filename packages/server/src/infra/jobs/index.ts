export * from './job-kind.ts'
export {
  countByState,
  countJobs,
  countQueued,
  type GroupRecord,
  type JobRecord,
  listDead,
  listGroups,
  listJobs,
  type StateCount,
} from './job-list-store.ts'
export { addMovedJobs, listOpenJobs, type MovedJob } from './job-move-store.ts'
export { removeJobs } from './job-purge-store.ts'
export { type JobQueue, openJobs } from './job-queue.ts'
export type { JobState } from './job-tables.ts'
export { jobsMigrations } from './jobs-migrations.ts'
export type { JobLogger, JobMetrics } from './kind-worker.ts'
export type { RunnerOptions } from './runner.ts'
export { addSweep, rowsPerPortion, type SweepDeps, type SweepPortion, sweep, sweepKind } from './sweep.ts'
