export { assertAttachable } from './access/assert-attachable.ts'
export { findAccessibleFile } from './access/file-access-store.ts'
export { findFileViewer, findViewerNamed } from './access/find-file-viewer.ts'
export { listAttachedFiles } from './access/list-attached-files.ts'
export { listPublicPictures } from './access/list-public-pictures.ts'
export { getFile } from './access/read-file.ts'
export { ArchiveTurns } from './archive/archive-turns.ts'
export { listBlobRows } from './blobs/blob-rows-store.ts'
export { type HoldDeps, holdBlob, type StageableBytes } from './blobs/hold-blob.ts'
export { type BlobProblem, verifyBlobs } from './blobs/verify-blobs.ts'
export { collectionEndpoints } from './collections/collection-endpoints.ts'
export { RecentReads } from './collections/recent-reads.ts'
export { addCollectionSweep } from './collections/sweep-collections.ts'
export { countContent } from './contents/count-content.ts'
export type {
  ContentSnapshot,
  ContentsByType,
  CopyAhead,
  FileContents,
  LiveFileType,
  Restoration,
} from './contents/file-contents.ts'
export { keptPeriodChanges, keptPeriodSecs } from './contents/kept-period.ts'
export { isOfPresentFile } from './contents/present-file-predicate.ts'
export { removeContentsJob } from './contents/remove-contents.ts'
export { type ContentProblem, verifyContents } from './contents/verify-contents.ts'
export { queueFetches } from './copies/queue-fetches.ts'
export { type CheckedDescriptor, fetchDescriptor, type RemoteDeps } from './copies/remote-file.ts'
export { findOwnerOfCopy } from './copies/shared-file.ts'
export { findRemoteBytes } from './copies/stage-remote.ts'
export type { FileEvent } from './events.ts'
export {
  fileDetailsMigrations,
  fileFoldingMigrations,
  fileTextMigrations,
  takenMigrations,
  thumbhashMigrations,
} from './file-details-migrations.ts'
export {
  downloadPublic,
  type FileEndpointDeps,
  fileEndpoints,
} from './file-endpoints.ts'
export { findFile, findThumbhash } from './file-store.ts'
export { addFileSweeps } from './file-sweeps.ts'
export { filesMigrations, fileTableMigrations } from './files-migrations.ts'
export { type FileJobDeps, handleFileJobs } from './handle-file-jobs.ts'
export type { FileVisit, LiveFile } from './live/live-file.ts'
export { LiveFiles, type LiveFilesDeps } from './live/live-files.ts'
export {
  assertMovedFolders,
  makeMovedVariants,
  putMovedTag,
  takeMovedBlob,
  takeMovedFile,
} from './moved-file.ts'
export { isPictureLost, profilePictures } from './profile-pictures.ts'
export { fileReleaser } from './release-files.ts'
export { type ByteRange, parseRange, rangeOf } from './serving/byte-range.ts'
export { servingHeaders } from './serving/serving-headers.ts'
export type { AnnounceDeps, ShareNotice } from './sharing/announce-share.ts'
export { credentialAccess } from './sharing/credential-access.ts'
export { shareActions } from './sharing/share-actions.ts'
export { type ShareEndpointDeps, shareEndpoints } from './sharing/share-endpoints.ts'
export { withdrawShareJob } from './sharing/share-jobs.ts'
export { listSharesOfFiles } from './sharing/share-store.ts'
export { fileOriginMigrations, storageKindsMigrations } from './storage-kinds-migrations.ts'
export { ActiveUploads } from './upload/active-uploads.ts'
export { recountUsage, setBlobSize } from './upload/recount-usage.ts'
export type { StorageLimits } from './upload/reserve-storage.ts'
export { listLargestUsers, listUsage, releaseBlob, sumUsage, useBlobs } from './upload/storage-store.ts'
export { uploadEndpoints } from './upload/upload-endpoints.ts'
export { uploadFile } from './upload/upload-file.ts'
export { UploadLeases } from './upload/upload-leases.ts'
