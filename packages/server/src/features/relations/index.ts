export { changeStatus, handleServerStatusEnds } from './change-status.ts'
export { type Circle, countCircle, listCircle, listReceivers } from './circle-store.ts'
export type { RelationEvent } from './events.ts'
export { findActingRole, findRole, isBlockedByServer } from './find-role.ts'
export { isLastLeader, lastLeader, listLedAlone } from './last-leader.ts'
export { putMovedRelation, queueStandingEnds } from './moved-relation.ts'
export {
  connectionState,
  isStranger,
  isSuspendedOrBanned,
  noRelation,
  type Relation,
  rankOf,
  relationshipOf,
  roleOf,
  type ServerStatus,
  statusOf,
  withServerStatus,
  withStatus,
} from './relation.ts'
export { type RelationColumns, relationOf } from './relation-row.ts'
export {
  changeRelation,
  findClaimedRole,
  findEffectiveRelation,
  findRelation,
  findRelations,
  listDecided,
  listEffectiveRelations,
  listLeaders,
  listSuspendedOrBanned,
  removeRelation,
  setClaims,
} from './relation-store.ts'
export {
  claimedRolesMigrations,
  relationsMigrations,
  relationTableMigrations,
} from './relations-migrations.ts'
export { type RelationEmitter, setRelation } from './set-relation.ts'
export { addRelationSweep } from './sweep-relations.ts'
export { canRead } from './visibility/can-read.ts'
export { findViewer } from './visibility/find-viewer.ts'
export { isLive, isReadableBy, type ReadableTables, viewerShape } from './visibility/readable-predicate.ts'
export { isSilencedHere, isSilencedTo } from './visibility/silenced-predicate.ts'
export { actsAsTenant, tenantViewer, type Viewer, viewerOf } from './visibility/viewer.ts'
