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
} from './job-list-store.ts'
export { addMovedJobs, listOpenJobs, type MovedJob } from './job-move-store.ts'
export { removeJobs } from './job-purge-store.ts'
export { type JobQueue, openJobs } from './job-queue.ts'
export { jobsMigrations } from './jobs-migrations.ts'
export {
  addSweep,
  recurring,
  rowsPerPortion,
  type SweepDeps,
  sweep,
} from './recurring.ts'
export type { RunnerOptions } from './runner.ts'
