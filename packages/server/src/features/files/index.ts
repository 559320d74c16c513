export { assertAttachable } from './assert-attachable.ts'
export { updateCopyEnd } from './copy-store.ts'
export { endDeadUploads } from './end-dead-uploads.ts'
export { type FetchDeps, fetchAndTell } from './fetch-file.ts'
export { assertFileName, normalTags, type StoredFile } from './file.ts'
export {
  type AccessTables,
  accessLevel,
  doubtMarks,
  isReadableFile,
  restingOn,
} from './file-access-predicate.ts'
export { type AccessibleFile, accessNames, findAccessibleFile } from './file-access-store.ts'
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
export { findUserData, type UserData } from './file-list-store.ts'
export type { FileEvent, FileObserver } from './file-observer.ts'
export { findFile } from './file-store.ts'
export { userDataView } from './file-view.ts'
export { adminLevel, type FileLevel, type FileViewer, readLevel, writeLevel } from './file-viewer.ts'
export {
  attachedByOwnerMigrations,
  filesMigrations,
  fileUpkeepMigrations,
  folderListMigrations,
  sharedFolderMigrations,
  trashMigrations,
  visitorFilesMigrations,
} from './files-migrations.ts'
export { findFileViewer, findViewerNamed } from './find-file-viewer.ts'
export {
  type GrantNode,
  type GrantShare,
  type GrantSteps,
  listGrantSteps,
} from './grant-steps-store.ts'
export { makeVariants, type VariantDeps } from './make-variants.ts'
export { parentFolder } from './parent-folder.ts'
export { assertMayPlace } from './place-file.ts'
export { queueFetches } from './queue-fetches.ts'
export {
  assertNotTrashed,
  type FileQuestion,
  getFile,
  getFileWithin,
  isOwnFile,
  type ReadDeps,
} from './read-file.ts'
export {
  cancelReservation,
  longestUploadSecs,
  type Reservation,
  renewReservation,
  reserveUpload,
  type StorageLimits,
} from './reserve-storage.ts'
export { addSharedFile, removeSharedFile, type SharedFile, type SharedFileDeps } from './shared-file.ts'
export { deleteReservation } from './storage-store.ts'
export { findOrphans, type SweepDeps, sweepBlobs } from './sweep-blobs.ts'
export { sweepCopies } from './sweep-copies.ts'
export { sweepTrash } from './sweep-trash.ts'
export { dropFiles } from './trash-file.ts'
export { storeUpload, type Upload, type UploadDeps, uploadFile } from './upload-file.ts'
export { UploadLeases } from './upload-leases.ts'
export { mayStillUpload, uploaderOf, visitorOf } from './uploader.ts'
export { type BlobCensus, type BlobProblem, type VerifyBlobsDeps, verifyBlobs } from './verify-blobs.ts'
