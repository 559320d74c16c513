export { assertAttachable } from './access/assert-attachable.ts'
export { findAccessibleFile } from './access/file-access-store.ts'
export { type FileViewer, writeLevel } from './access/file-viewer.ts'
export { findFileViewer, findViewerNamed } from './access/find-file-viewer.ts'
export { getFile } from './access/read-file.ts'
export { findOrphans, sweepBlobs } from './blobs/sweep-blobs.ts'
export { type BlobProblem, verifyBlobs } from './blobs/verify-blobs.ts'
export { collectionEndpoints } from './collections/collection-endpoints.ts'
export { removeItems } from './collections/collection-store.ts'
export { collectionsMigrations, openedAgeMigrations } from './collections/collections-migrations.ts'
export { RecentReads } from './collections/recent-reads.ts'
export { addCollectionSweep } from './collections/sweep-collections.ts'
export { type FetchDeps, fetchAndTell } from './copies/fetch-file.ts'
export { queueFetches } from './copies/queue-fetches.ts'
export { sweepCopies } from './copies/sweep-copies.ts'
export { type FileEndpointDeps, fileEndpoints } from './file-endpoints.ts'
export {
  endDeadUploadsJob,
  fetchFileJob,
  findOrphansJob,
  makeVariantsJob,
  sweepBlobsJob,
  sweepCopiesJob,
  sweepTrashJob,
} from './file-jobs.ts'
export type { FileEvent, FileObserver } from './file-observer.ts'
export { findFile } from './file-store.ts'
export {
  attachedByOwnerMigrations,
  discardedByLinkMigrations,
  filesMigrations,
  fileUpkeepMigrations,
  folderListMigrations,
  sharedFolderMigrations,
  trashMigrations,
  visitorFilesMigrations,
} from './files-migrations.ts'
export { sweepTrash } from './folders/sweep-trash.ts'
export { dropFiles } from './folders/trash-file.ts'
export type { AnnounceDeps, ShareNotice } from './sharing/announce-share.ts'
export { endSharesOfFiles } from './sharing/end-shares.ts'
export { reviewShares } from './sharing/review-shares.ts'
export { shareActions } from './sharing/share-actions.ts'
export { type ShareEndpointDeps, shareEndpoints } from './sharing/share-endpoints.ts'
export { reviewSharesJob, sweepSharesJob, withdrawShareJob } from './sharing/share-jobs.ts'
export { listSharesOfFiles } from './sharing/share-store.ts'
export {
  copySubjectsMigrations,
  givenOnMigrations,
  shareBasesMigrations,
  sharesMigrations,
} from './sharing/shares-migrations.ts'
export { ShareSweep, type SweepSharesDeps, withdrawShare } from './sharing/sweep-shares.ts'
export { endDeadUploads } from './upload/end-dead-uploads.ts'
export type { StorageLimits } from './upload/reserve-storage.ts'
export { sweepUploads } from './upload/sweep-uploads.ts'
export { uploadEndpoints } from './upload/upload-endpoints.ts'
export { type UploadDeps, uploadFile } from './upload/upload-file.ts'
export { sweepUploadsJob } from './upload/upload-jobs.ts'
export { UploadLeases } from './upload/upload-leases.ts'
export { UploadTurns } from './upload/upload-turns.ts'
export { uploadsMigrations } from './upload/uploads-migrations.ts'
export { makeVariants } from './variants/make-variants.ts'
