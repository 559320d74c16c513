/** The parts of the server that a benchmark needs from inside: to fill a database, and to run the same statements alone. */

export { migrations } from '../../packages/server/src/app/migrations.ts'
export type { StoredAction } from '../../packages/server/src/features/actions/action.ts'
export { newNonce, ownActionId } from '../../packages/server/src/features/actions/action-id.ts'
export { insertAction } from '../../packages/server/src/features/actions/action-store.ts'
export { actionView } from '../../packages/server/src/features/actions/action-view.ts'
export { findShown, listFeed } from '../../packages/server/src/features/actions/feed/feed-store.ts'
export { appendMessage } from '../../packages/server/src/features/conversations/conversation-store.ts'
export { putIdentity } from '../../packages/server/src/features/federation/identities/identities-store.ts'
export { withKeys } from '../../packages/server/src/features/federation/identities/identity-key.ts'
export {
  commitTo,
  type NewFile,
  type StoredFile,
  type StoredVariant,
} from '../../packages/server/src/features/files/file.ts'
export {
  findFile,
  insertFile,
  insertVariants,
  listVariants,
} from '../../packages/server/src/features/files/file-store.ts'
export { countFiles, useBlobs } from '../../packages/server/src/features/files/upload/storage-store.ts'
export { blobOf } from '../../packages/server/src/features/files/variants/make-variants.ts'
export { putRemoteProfile } from '../../packages/server/src/features/profiles/profile-store.ts'
export { changeRelation, type Viewer, viewerOf } from '../../packages/server/src/features/relations/index.ts'
export { findTenantByIdTag } from '../../packages/server/src/features/tenants/tenant-store.ts'
export type { BlobHash } from '../../packages/server/src/infra/blobs/index.ts'
export { type Database, openDatabase, serverTenant } from '../../packages/server/src/infra/db/index.ts'
