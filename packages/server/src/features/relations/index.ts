export {
  changeStatus,
  type EndStandingDeps,
  endStanding,
  endStandingJob,
  type StatusChange,
} from './change-status.ts'
export { isLastLeader, lastLeader, listLedAlone } from './last-leader.ts'
export {
  type Connection,
  connectionState,
  isBarred,
  isStranger,
  noRelation,
  overruled,
  type Relation,
  rankOf,
  relationshipOf,
  roleOf,
  type Standing,
  statusOf,
  withStatus,
} from './relation.ts'
export { type RelationColumns, relationOf } from './relation-row.ts'
export {
  type Circle,
  changeRelation,
  countCircle,
  findEffectiveRelation,
  findRelation,
  findRelations,
  hushesAnybody,
  listBarred,
  listCircle,
  listLeaders,
  listReceivers,
  removeRelation,
} from './relation-store.ts'
export {
  leadersMigrations,
  relationEndsMigrations,
  relationsMigrations,
  standingMigrations,
} from './relations-migrations.ts'
export { addRelationSweep } from './sweep-relations.ts'
