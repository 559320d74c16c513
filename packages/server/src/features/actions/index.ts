export type { StoredAction } from './action.ts'
export { actionEndpoints } from './action-endpoints.ts'
export { hashOfToken, ownActionId } from './action-id.ts'
export { type ActionJobDeps, handleActionJobs } from './action-jobs.ts'
export type { ActionEvent, ActionPorts, FileDescription, FileShares } from './action-ports.ts'
export { findStoredAction } from './action-store.ts'
export {
  actionSweepMigrations,
  actionsMigrations,
  attachmentIssuersMigrations,
  awaitedAttachmentsMigrations,
  callerMemoryMigrations,
  listIndexMigrations,
  pageMigrations,
  searchIndexMigrations,
  strangerRowsMigrations,
  tagTimesMigrations,
  tombstonesMigrations,
  uniqueTimesMigrations,
  visitorListMigrations,
} from './actions-migrations.ts'
export { findToldCounts } from './count-store.ts'
export {
  type CreateAction,
  createAction,
  type MadeAction,
  makeAction,
  storeMade,
} from './create-action.ts'
export { findConcerned } from './find-concerned.ts'
export { findSendable } from './find-sendable.ts'
export { findUnasked } from './find-unasked.ts'
export { listCountTokens } from './list-count-tokens.ts'
export { type AttachmentVerdict, settleAttachment } from './pending-action.ts'
export { receiveAction } from './receive-action.ts'
export type { ReceivedAction, ReceiveOutcome } from './received-action.ts'
export { indexActions, unindexActions } from './reindex-actions.ts'
export { getSentId } from './sent-action.ts'
export { putTombstone, type Withdrawal, withdrawalOf } from './tombstone-store.ts'
export { type RevokedKey, withdrawSignedLater } from './withdraw-signed.ts'
