export type { StoredAction } from './action.ts'
export { actionEndpoints } from './action-endpoints.ts'
export { hashOfToken, ownActionId } from './action-id.ts'
export { type ActionJobDeps, handleActionJobs } from './action-jobs.ts'
export type { ActionPorts } from './action-ports.ts'
export { findStoredAction } from './action-store.ts'
export { actionsMigrations } from './actions-migrations.ts'
export { opensHistory } from './circle-changes.ts'
export {
  type CreateAction,
  createAction,
  type MadeAction,
  makeAction,
  storeMade,
} from './compose/create-action.ts'
export { prepareFileShare } from './compose/prepare-file-share.ts'
export { getSentId } from './compose/sent-action.ts'
export { findToldCounts } from './counts/count-store.ts'
export { listCountTokens } from './counts/list-count-tokens.ts'
export type { ActionChange, ActionEvent } from './events.ts'
export { findForNotification } from './feed/find-for-notification.ts'
export { type ListHistoryDeps, listHistory } from './feed/list-history.ts'
export { indexActions, unindexActions } from './feed/reindex-actions.ts'
export type { Attachments, FileDescription, FileShares } from './file-ports.ts'
export { findSendable } from './find-sendable.ts'
export { findConcerned } from './receive/find-concerned.ts'
export { type AttachmentVerdict, settleAttachment, settleTried } from './receive/pending-action.ts'
export { receiveAction } from './receive/receive-action.ts'
export type { ReceivedAction, ReceiveOutcome } from './receive/received-action.ts'
export { putTombstone, type Withdrawal, withdrawalOf } from './removal/tombstone-store.ts'
export { type RevokedKey, withdrawSignedLater } from './removal/withdraw-signed.ts'
