export type { AnnounceDeps, ShareNotice } from './announce-share.ts'
export { type EndDeps, endSharesOfFiles } from './end-shares.ts'
export { reviewShares } from './review-shares.ts'
export { type FileShareAction, type ShareActionDeps, shareActions } from './share-actions.ts'
export { type ShareEndpointDeps, shareEndpoints } from './share-endpoints.ts'
export { reviewSharesJob, sweepSharesJob, withdrawShareJob } from './share-jobs.ts'
export { listSharesOfFiles } from './share-store.ts'
export {
  copySubjectsMigrations,
  givenOnMigrations,
  shareBasesMigrations,
  sharesMigrations,
} from './shares-migrations.ts'
export { ShareSweep, type SweepSharesDeps, withdrawShare } from './sweep-shares.ts'
