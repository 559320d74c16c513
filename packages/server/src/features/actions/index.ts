export type { StoredAction } from './action.ts'
export { actionEndpoints } from './action-endpoints.ts'
export { hashOfToken, ownActionId } from './action-id.ts'
export { handleActionJobs } from './action-jobs.ts'
export type { ActionPorts, ShowDeps } from './action-ports.ts'
export { findStoredAction } from './action-store.ts'
export {
  actionsMigrations,
  actionTableMigrations,
  endorsementMigrations,
  unverifiedActionsMigrations,
} from './actions-migrations.ts'
export { opensHistory } from './circle-changes.ts'
export { inviteByLink } from './community/invite-by-link.ts'
export { linkInvitationsMigrations } from './community/link-invitations-migrations.ts'
export {
  createAction,
  makeAction,
  storeMade,
} from './compose/create-action.ts'
export { prepareFileShare } from './compose/prepare-file-share.ts'
export { getSentId } from './compose/sent-action.ts'
export { findToldCounts } from './counts/count-store.ts'
export { listCountTokens } from './counts/list-count-tokens.ts'
export { countMadeHere } from './counts/made-here-store.ts'
export type { ActionChange, ActionEvent } from './events.ts'
export { findForNotification, findWithFiles } from './feed/find-for-notification.ts'
export { hasActionBy } from './feed/has-action-by.ts'
export { listActions } from './feed/list-actions.ts'
export { type ListHistoryDeps, listHistory } from './feed/list-history.ts'
export { findPublicPost, listPublicPosts } from './feed/public-posts.ts'
export type { AppPackages, Attachments, DescribedPackage, FileShares } from './file-ports.ts'
export { findSendable } from './find-sendable.ts'
export {
  announceLaterJob,
  dropCopiesJob,
  passOnCountsJob,
  reconnectJob,
  tellCountsJob,
} from './job-kinds.ts'
export { doesMention } from './mentions.ts'
export { badToken, type ReadToken, readActionToken } from './read-action-token.ts'
export { findConcerned } from './receive/find-concerned.ts'
export { confirmAction, settleAttachment, settleTried } from './receive/pending-action.ts'
export { receiveAction } from './receive/receive-action.ts'
export type { ReceivedAction, ReceiveOutcome } from './receive/received-action.ts'
export { erasedActionsMigrations } from './removal/erased-actions-migrations.ts'
export { putTombstone, type Withdrawal, withdrawalOf } from './removal/tombstone-store.ts'
export { withdrawSignedLater } from './removal/withdraw-signed.ts'
export { searchBacklogMigrations } from './search/index-backlog-store.ts'
export { indexActions, unindexActions } from './search/reindex-actions.ts'
export { searchTextOf, searchWords } from './search/search-text.ts'
export { leaveDeletedText } from './transfer/leave-deleted-text.ts'
export { putMovedActions, queueScheduled } from './transfer/put-moved-actions.ts'
export { readMovedAction } from './transfer/read-moved-action.ts'
export { listUnverified, listUnverifiedIssuers } from './transfer/unverified-store.ts'
export { findConnectionRequest } from './types/conn.ts'
