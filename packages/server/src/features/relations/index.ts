export {
  type Connection,
  connectionState,
  noRelation,
  type Relation,
  relationshipOf,
  roleOf,
} from './relation.ts'
export { changeRelation, findRelation, hushesAnybody, listAudience, listReceivers } from './relation-store.ts'
export { relationsMigrations } from './relations-migrations.ts'
